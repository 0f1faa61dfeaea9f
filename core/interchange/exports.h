#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/stop.h"
#include "interchange/checked_numbers.h"
#include "planning/plan.h"
#include "verify/compare_tensors.h"

namespace fusescope {

/// What becomes of weights that are calculated with in another type than the file has them.
enum class WeightTypes {
  Convert,  ///< they are converted
  Keep,     ///< they stay, and a Cast converts them
};
/// The types of a network's inputs and outputs.
enum class BorderTypes {
  Keep,  ///< those of the file; Casts stand at the border
  Plan,  ///< those that the plan reads and stores them at
};

struct ExportOptions {
  std::string trtVersion;                 ///< "8.6", "10.3": needed by trtexec
  std::optional<std::string> layerNames;  ///< content of a verbose trtexec log, for its `Registering layer` lines
  std::filesystem::path path{};           ///< where it is to be written; empty: to standard output
  WeightTypes weights = WeightTypes::Convert;
  BorderTypes borders = BorderTypes::Keep;
  std::vector<std::map<std::string, Tensor>> samples{};  ///< inputs to check an exported network with; none: not run
  std::vector<std::string> sampleNames{};                ///< what is said of each; none: its number
  Tolerance tolerance = Tolerance::ofLoweredTypes();     ///< how far its outputs may be from float32
  StopToken stop{};
};

/// Something that a reader of an export must know.
struct ExportNote {
  std::string text;
  bool obey = false;  ///< it says that a wish marked obey does not hold
};

/// An exported file, and what must be known of it. Text formats with comments hold the notes too.
struct Exported {
  std::string text{};  ///< of the file; of one that is not text: empty
  std::vector<ExportNote> notes{};
  std::function<Status(const std::filesystem::path&)> save{};  ///< writes a file that is not text, and those beside it
  std::optional<Diagnostic> doesNotHold{};  ///< what was checked and is not so: nothing may be written
  std::string summary{};   ///< what this one is, where Exporter::summary promises more than it keeps; else empty
  std::int64_t edges = 0;  ///< of a network: whose types were found to be the plan's when it was read again
  std::optional<CheckedNumbers> numbers{};  ///< of a network that was run on samples, also where it does not hold
};

/// One format that plans can be written in.
struct Exporter {
  std::string_view name;   ///< "directives", "trtexec", "polygraphy", "onnx"
  std::string_view title;  ///< for people: "Command line of trtexec"
  std::string_view extension;
  std::string_view summary;
  Result<Exported> (*write)(const Plan& plan, const ExportOptions& options);
  bool isText = true;         ///< else it is written by Exported::save, and needs ExportOptions::path
  bool takesSamples = false;  ///< what it writes is checked with ExportOptions::samples
  bool takesVersion = false;  ///< it depends on ExportOptions::trtVersion, and is refused without one
};
/// The formats, in an explicit list.
const std::vector<Exporter>& exporters();
const Exporter* findExporter(std::string_view name);

}  // namespace fusescope
