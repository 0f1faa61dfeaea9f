#pragma once

#include <spawn.h>

#include "base/descriptor.h"
#include "base/result.h"

namespace fusescope {

/// The settings of posix_spawn() for a process in a session of its own, with no signal blocked or ignored. They are
/// freed when this object is destroyed.
struct SpawnSettings {
  posix_spawn_file_actions_t actions{};
  posix_spawnattr_t attributes{};
  SpawnSettings();
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;
  ~SpawnSettings();
};

struct Pipe {
  Descriptor read, write;
};

/// Opens a connection with two ends. Unlike a pipe, it can be written to without a signal when nobody reads any more.
/// Errors: the system has no more descriptors.
Result<Pipe> openSocket();

}  // namespace fusescope
