#pragma once

#include "probe/environments.h"
#include "probe/found_environment.h"

namespace fusescope {

/// Provides the environments in which compilers are searched for. The functions may wait for another process or machine
/// and must not be called on the GUI thread. They are thread-safe.
class EnvironmentSource {
 public:
  virtual ~EnvironmentSource() = default;
  /// Returns the environments that are found automatically, then those that the user added.
  virtual std::vector<Environment> find() const = 0;
  /// Returns the environments that the user added. Errors: they cannot be read.
  virtual Result<std::vector<Environment>> added() const = 0;
  virtual bool isConfirmed(const Environment& environment) const = 0;
  virtual Status confirm(const Environment& environment) const = 0;
  /// Examines an environment, as tryEnvironment() does. `afresh` says that it may have changed since the last time.
  virtual Result<FoundEnvironment> look(const Environment& environment, bool afresh, const StopToken& stop) const = 0;
  virtual Status add(const Environment& environment) const = 0;
  virtual Status remove(const std::string& name) const = 0;
};

/// Returns the source of this machine and user (core/probe/environments.h).
const EnvironmentSource& environmentsOfMachine();

}  // namespace fusescope
