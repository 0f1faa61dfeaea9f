#pragma once

#include <cstdint>
#include <functional>

#include "backends/device.h"

namespace fusescope {

/// Pretends to be elsewhere. Its memory is mapped twice: where its addresses say, nobody may read or write it; its
/// streams know where the bytes are. A stream works in a thread of its own, and lets some time pass before each piece
/// of work, so that who does not wait finds what was there before.
const Device& remoteDevice();

/// Where the bytes of an address of the device are, for its streams. Error: it is none of its addresses.
Result<std::byte*> remoteBytes(const std::byte* address);

/// Lets `work` run on a stream of the device.
void enqueueRemote(Stream& stream, std::function<Status()> work);
/// Pieces of work that were given to enqueueRemote() and have run, of all streams.
std::int64_t remoteWorkDone();
/// Calls `then` once, in the thread of a stream, as soon as remoteWorkDone() is `count`. Nothing may run meanwhile.
void atRemoteWork(std::int64_t count, std::function<void()> then);

}  // namespace fusescope
