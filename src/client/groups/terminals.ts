import { type RecordingEvent, recordingEvents } from '../recordings/recording-events.ts';
import { type Api, at, type CallOptions, dataOf, type ListQuery, type Schemas } from '../request/api.ts';
import { listAt } from '../request/lists.ts';
import { List } from '../request/pages.ts';
import type { Requester } from '../request/requester.ts';

type DownloadOptions = { readonly signal?: AbortSignal | null };

/** Recordings of terminals. */
export function recordingsOf(api: Api, requester: Requester) {
  const download = async (id: string, { signal = null }: DownloadOptions = {}): Promise<Response> => {
    const path = `/api/recordings/${encodeURIComponent(id)}/cast`;
    return await requester.send(path, { headers: { accept: '*/*' }, signal, timeoutMs: null });
  };
  return {
    list: listAt(api, '/api/recordings', 'recordings'),
    get: (id: string, options?: CallOptions) => dataOf(api.GET('/api/recordings/{id}', at(id, options))),
    /** Records an open terminal of an own container. */
    start: (container: string, connectionId = 'main', options?: CallOptions) => {
      const body = { connection_id: connectionId };
      return dataOf(api.POST('/api/containers/{id}/recordings', { body, ...at(container, options) }));
    },
    stop: (id: string, options?: CallOptions) =>
      dataOf(api.POST('/api/recordings/{id}/stop', at(id, options))),
    delete: (id: string, options?: CallOptions) =>
      dataOf(api.DELETE('/api/recordings/{id}', at(id, options))),
    /** The recording as asciicast v2, one event a line. */
    download,
    /** What the terminal showed, in order. */
    async *events(id: string, options?: DownloadOptions): AsyncGenerator<RecordingEvent, void, undefined> {
      yield* recordingEvents((await download(id, options)).body);
    },
  };
}

/** Shared terminals. */
export function collaborationsOf(api: Api) {
  return {
    /** The live ones of an own container. */
    list: (
      container: string,
      query: ListQuery<'/api/containers/{id}/collaborations'> = {},
      options?: CallOptions,
    ) =>
      new List<Schemas['Collaboration']>(async (page) => {
        const params = { path: { id: container }, query: { ...query, ...page } };
        const answer = await dataOf(api.GET('/api/containers/{id}/collaborations', { params, ...options }));
        return { items: answer.collaborations, next: answer.next_cursor };
      }),
    /** Shares the terminal of a container. The link is in this answer only. */
    create: (container: string, body: Schemas['ShareRequest'], options?: CallOptions) =>
      dataOf(api.POST('/api/containers/{id}/collaborations', { body, ...at(container, options) })),
    get: (id: string, options?: CallOptions) => dataOf(api.GET('/api/collaborations/{id}', at(id, options))),
    join: (code: string, options?: CallOptions) =>
      dataOf(api.POST('/api/collaborations/join', { body: { code }, ...options })),
    /** Its owner ends it, a participant leaves it. */
    end: (id: string, options?: CallOptions) =>
      dataOf(api.DELETE('/api/collaborations/{id}', at(id, options))),
    removeParticipant: (id: string, userId: string, options?: CallOptions) => {
      const params = { path: { id, user_id: userId } };
      return dataOf(api.DELETE('/api/collaborations/{id}/participants/{user_id}', { params, ...options }));
    },
  };
}
