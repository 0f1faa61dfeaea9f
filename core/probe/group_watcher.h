#pragma once

#include <sys/types.h>

#include "base/descriptor.h"

namespace fusescope {

/// A small process that ends a process group if this process ends first, however that happens: also by SIGKILL. It
/// waits at a connection whose other end only this process has. When that end closes, the group gets half a second to
/// end by itself, and is then killed. It is a shell, so that a system without /bin/sh has no watcher. Owner: the
/// process that is watched.
class GroupWatcher {
 public:
  /// Starts a watcher, which does nothing before it knows the group.
  static GroupWatcher start();
  GroupWatcher() = default;
  GroupWatcher(GroupWatcher&& other) noexcept;
  GroupWatcher& operator=(GroupWatcher&&) = delete;
  ~GroupWatcher() { dismiss(); }

  /// Returns the connection, to which the first process of the group writes its number as a line (startWatched()); -1
  /// if there is no watcher.
  int connection() const { return m_id > 0 ? m_connection.number() : -1; }
  /// Ends the watcher without ending the group. This must happen before the first process of the group is waited for:
  /// after that, the system may give its number to another group.
  void dismiss();

 private:
  pid_t m_id = -1;
  Descriptor m_connection;
};

}  // namespace fusescope
