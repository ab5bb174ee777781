import { unreachable } from '../domain/result.ts';
import type { Channel, ChannelHandlers, ChannelRequest } from '../protocol/agent/index.ts';
import { ChannelWriter } from './channel-writer.ts';
import { runCommand } from './exec/run-command.ts';
import { faultCode } from './files/file-fault.ts';
import { wireEntry } from './files/list-folder.ts';
import { openFile } from './files/open-file.ts';
import { removeFile, statFile } from './files/remove-file.ts';
import { writeFile } from './files/write-file.ts';
import type { ShellStore } from './shells/shell-store.ts';
import type { HostUser } from './user-environment.ts';

/** Answers the service's channels on this host. */
export const hostChannels =
  (user: HostUser, shells: ShellStore) =>
  (request: ChannelRequest, channel: Channel): ChannelHandlers => {
    const { home } = user;
    switch (request.type) {
      case 'shell':
        return shells.open(request, channel);
      case 'shells':
        return shells.list(channel);
      case 'end_shell':
        return shells.end(request, channel);
      case 'exec':
        return runCommand(user, request, channel);
      case 'file_open':
        return answered(channel, (writer) => openFile(home, request, channel, writer));
      case 'file_write':
        return writeFile(home, request, channel);
      case 'file_remove':
        return answered(channel, async () => {
          await removeFile(home, request.path);
          channel.finish({ type: 'file_remove' });
        });
      case 'file_stat':
        return answered(channel, async () => {
          channel.finish({ type: 'file_stat', entry: wireEntry(await statFile(home, request.path)) });
        });
      default:
        return unreachable(request);
    }
  };

/** Resets the channel with a file error's code, or `failed`. */
function answered(channel: Channel, work: (writer: ChannelWriter) => Promise<void>): ChannelHandlers {
  const writer = new ChannelWriter(channel);
  work(writer).catch((error: unknown) =>
    channel.reset(faultCode(error) ?? 'failed', error instanceof Error ? error.message : String(error)),
  );
  return { room: writer.wake, reset: writer.wake };
}
