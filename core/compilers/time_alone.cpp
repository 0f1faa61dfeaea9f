#include "compilers/time_alone.h"

namespace fusescope {

/// An engine of another compiler suspends the other processes itself, because it knows which processes are its own.
Result<TimeReport> timeAlone(Engine& engine, const std::map<std::string, Tensor>& inputs, const TimeOptions& options) {
  if (engine.plan().options.compiler != kOwnCompiler) return engine.time(inputs, options);
  OthersAtRest others(nullptr);
  TimeReport report = TRY(engine.time(inputs, options));
  noteOthers(others.end(), report);
  return report;
}

void noteOthers(const RestReport& others, TimeReport& report) {
  const std::string text = others.inWords();
  if (text.empty()) return;
  report.remark += (report.remark.empty() ? "" : "; ") + text;
  report.quiet = report.quiet && !others.disturbed();
}

}  // namespace fusescope
