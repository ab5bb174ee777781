/** Prints the API document of a service in memory, for the linters of `npm run check`. */
import { aService } from './service.ts';

const { http } = await aService();
console.log((await http.inject('/api/openapi.json')).body);
await http.close();
