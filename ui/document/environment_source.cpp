#include "ui/document/environment_source.h"

#include "compilers/probed/probed_compiler.h"
#include "probe/listeners.h"

namespace fusescope {

namespace {

class OfMachine final : public EnvironmentSource {
 public:
  std::vector<Environment> find() const override { return findEnvironments(); }
  Result<std::vector<Environment>> added() const override { return userEnvironments(); }
  bool isConfirmed(const Environment& environment) const override {
    return fusescope::isConfirmed(environment.command);
  }
  Status confirm(const Environment& environment) const override { return fusescope::confirm(environment.command); }
  Result<FoundEnvironment> look(const Environment& environment, bool afresh, const StopToken& stop) const override {
    if (afresh) {
      forgetProbedCompilers();
      endIdleListeners();  // a listener only knows what was installed when it started
    }
    return tryEnvironment(environment, stop);
  }
  Status add(const Environment& environment) const override { return changed(addEnvironment(environment)); }
  Status remove(const std::string& name) const override { return changed(removeEnvironment(name)); }

 private:
  /// Compilers are searched for again after a change.
  static Status changed(Status status) {
    if (status.ok()) forgetProbedCompilers();
    return status;
  }
};

}  // namespace

const EnvironmentSource& environmentsOfMachine() {
  static const OfMachine source;
  return source;
}

}  // namespace fusescope
