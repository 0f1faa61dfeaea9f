#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "planning/plan.h"

namespace fusescope {

struct ExportOptions {
  std::string trtVersion;                 ///< "8.6", "10.3": needed by trtexec
  std::optional<std::string> layerNames;  ///< content of a verbose trtexec log, for its `Registering layer` lines
};

/// Something that a reader of an export must know.
struct ExportNote {
  std::string text;
  bool obey = false;  ///< it says that a wish marked obey does not hold
};

/// The text of an exported file, and what must be known of it. Formats with comments hold the notes too.
struct ExportedText {
  std::string text;
  std::vector<ExportNote> notes;
};

/// One format that precision configurations can be written in.
struct Exporter {
  std::string_view name;   ///< "directives", "trtexec", "polygraphy"
  std::string_view title;  ///< for people: "Command line of trtexec"
  std::string_view extension;
  std::string_view summary;
  Result<ExportedText> (*write)(const Plan& plan, const ExportOptions& options);
};
/// The formats, in an explicit list.
const std::vector<Exporter>& exporters();
const Exporter* findExporter(std::string_view name);

}  // namespace fusescope
