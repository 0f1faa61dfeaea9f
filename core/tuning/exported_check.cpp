#include "tuning/exported_check.h"

#include <algorithm>
#include <cmath>

#include "base/temporary_folder.h"
#include "interchange/exports.h"

namespace fusescope {

double ExportedCheck::error() const {
  return numbers ? std::max(numbers->onReference.worst, numbers->onEngine.worst) : NAN;
}

Result<ExportedCheck> checkExported(const Plan& plan, const std::vector<PlanRunner::Inputs>& samples, double most,
                                    const StopToken& stop) {
  const auto folder = TRY(TemporaryFolder::in(std::filesystem::temp_directory_path(), "fusescope-tune"));
  ExportOptions options{.path = folder / "tuned.onnx"};
  options.samples = samples;
  options.tolerance = {.rms = most};
  options.stop = stop;
  const auto made = findExporter("onnx")->write(plan, options);
  if (!made.ok() && made.error().cancelled) return made.error();
  if (!made.ok()) return ExportedCheck{.whyNot = made.error().text()};
  ExportedCheck check{.numbers = made.value().numbers};
  check.ok = !check.numbers || check.error() <= most;
  if (const auto& refused = made.value().failedCheck; refused && check.ok) check.whyNot = refused->text();
  return check;
}

}  // namespace fusescope
