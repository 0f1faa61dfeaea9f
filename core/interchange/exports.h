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

/// One format that precision configurations can be written in.
struct Exporter {
  std::string_view name;  ///< "directives", "trtexec", "polygraphy"
  std::string_view extension;
  std::string_view summary;
  Result<std::string> (*write)(const Plan& plan, const ExportOptions& options);  ///< the file's text
};
/// The formats, in an explicit list.
const std::vector<Exporter>& exporters();
const Exporter* findExporter(std::string_view name);

}  // namespace fusescope
