#pragma once

#include "probe/environments.h"

namespace fusescope {

/// Where the environments come from in which compilers are looked for. The functions may wait for another process or
/// machine: none is for the GUI thread. They are safe to use from several threads.
class EnvironmentSource {
 public:
  virtual ~EnvironmentSource() = default;
  /// Those that are found by themselves, then those that the user added.
  virtual std::vector<Environment> find() const = 0;
  /// Those that the user added. Errors: they cannot be read.
  virtual Result<std::vector<Environment>> added() const = 0;
  virtual bool isConfirmed(const Environment& environment) const = 0;
  virtual Status confirm(const Environment& environment) const = 0;
  /// `afresh`: what is there may have changed since it was looked at. As tryEnvironment().
  virtual Result<FoundEnvironment> look(const Environment& environment, bool afresh, const StopToken& stop) const = 0;
  virtual Status add(const Environment& environment) const = 0;
  virtual Status remove(const std::string& name) const = 0;
};

/// Those of this machine and user (core/probe/environments.h).
const EnvironmentSource& environmentsOfMachine();

}  // namespace fusescope
