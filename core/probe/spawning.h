#pragma once

#include <sys/types.h>

#include <array>

#include "base/descriptor.h"
#include "base/result.h"

namespace fusescope {

/// A command that is started so that it cannot be left behind.
struct WatchedCommand {
  std::array<int, 3> standard;  ///< the descriptors that become its standard input, output and error
  int watcher = -1;             ///< the connection of its GroupWatcher; -1: there is none
  char* const* words = nullptr;
  char* const* variables = nullptr;
  void (*beforeCommand)() = nullptr;  ///< for tests: called in the new process before it becomes the command
};

/// Starts a command in a session of its own, with no signal blocked or ignored. The new process tells the watcher its
/// number, which is that of its group, before it becomes the command, so that this process may be killed at any moment.
/// Returns 0 and sets `id`, or returns the number of the error.
int startWatched(const WatchedCommand& command, pid_t& id);

struct Pipe {
  Descriptor read, write;
};

/// Opens a connection with two ends. Unlike a pipe, it can be written to without a signal when nobody reads any more.
/// Errors: the system has no more descriptors.
Result<Pipe> openSocket();

}  // namespace fusescope
