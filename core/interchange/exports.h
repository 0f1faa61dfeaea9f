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

/// How weights are written that are used in another type than the file has.
enum class WeightTypes {
  Convert,  ///< they are converted
  Keep,     ///< they keep their type, and a Cast converts them
};
/// The types of a network's inputs and outputs.
enum class BorderTypes {
  Keep,  ///< those of the file, with Casts at the inputs and outputs
  Plan,  ///< those in which the plan reads and stores them
};

/// The values of options that only some formats have, by ExporterOption::name.
using ExporterValues = std::map<std::string, std::string, std::less<>>;

/// An option that only some formats have. Command line, worker and window offer it for these formats.
struct ExporterOption {
  std::string_view name;                         ///< "trt-version"
  std::string_view title;                        ///< for the window: "TensorRT version"
  std::string_view help;                         ///< whole sentences
  std::string_view argument = {};                ///< the placeholder of the value in help texts: "V"; empty for choices
  std::vector<std::string_view> choices{};       ///< all values, the default first; empty: any text
  std::vector<std::string_view> choiceTitles{};  ///< for the window, in the order of `choices`
  bool isFile = false;                           ///< the value is the path of a file that the exporter reads
  std::string (*proposed)(const Plan& plan) = nullptr;  ///< a value that suits the plan; null: there is none
};

struct ExportOptions {
  std::filesystem::path path{};  ///< the file to write; empty: standard output
  ExporterValues own{};          ///< options of the format; those that are omitted or empty are not given
  std::vector<std::map<std::string, Tensor>> samples{};  ///< inputs for checking an exported network; empty: it is not
                                                         ///< run
  std::vector<std::string> sampleNames{};                ///< the names of the samples; empty: they are numbered
  Tolerance tolerance = Tolerance::ofLoweredTypes();     ///< the allowed difference of its outputs from float32
  StopToken stop{};

  /// Returns the value of an option of the format; empty if it is not given.
  std::string text(std::string_view name) const {
    const auto found = own.find(name);
    return found == own.end() ? std::string() : found->second;
  }
};

/// Something that a reader of an export must know.
struct ExportNote {
  std::string text;
  bool obey = false;  ///< true: the note says that a directive marked obey is not satisfied
};

/// An exported file, and what must be known about it. Text formats with comments include the notes.
struct Exported {
  std::string text{};  ///< the text of the file; empty if it is not a text
  std::vector<ExportNote> notes{};
  std::function<Status(const std::filesystem::path&)> save{};  ///< writes a file that is not a text, and the files
                                                               ///< beside it
  std::optional<Diagnostic> failedCheck{};                     ///< a check that failed: nothing may be written
  std::string summary{};   ///< a correction of Exporter::summary if that promises too much for this file; otherwise
                           ///< empty
  std::int64_t edges = 0;  ///< for a network: the number of edges whose types agree with the plan when it is read again
  std::optional<CheckedNumbers> numbers{};  ///< for a network that was run on samples, also if the check failed
};

/// A format in which plans can be exported.
struct Exporter {
  std::string_view name;   ///< "directives", "trtexec", "polygraphy", "onnx"
  std::string_view title;  ///< for people: "Command line of trtexec"
  std::string_view extension;
  std::string_view summary;
  Result<Exported> (*write)(const Plan& plan, const ExportOptions& options);
  bool isText = true;         ///< false: Exported::save writes the file, and ExportOptions::path is required
  bool takesSamples = false;  ///< the result is checked with ExportOptions::samples
  std::vector<const ExporterOption*> options{};  ///< those that this format has

  const ExporterOption* option(std::string_view name) const;  ///< null: it has none of that name
};
/// Returns the formats in the order in which they are listed to users (exporters.inc).
const std::vector<const Exporter*>& exporters();
const Exporter* findExporter(std::string_view name);
/// Checks that the format has all options of `given` that have a value. The error names formats that have it.
Status checkOptions(const Exporter& exporter, const ExporterValues& given);

}  // namespace fusescope
