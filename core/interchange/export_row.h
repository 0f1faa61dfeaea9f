#pragma once

#include <string_view>
#include <vector>

namespace fusescope {

/// What the table of docs/exports.md says about a format, in Markdown without vertical bars. The row kNAMERow is in the
/// file of kNAMEExporter. It is not a part of Exporter, because only the document needs it.
struct ExportRow {
  std::string_view readers;    ///< who reads the file
  std::string_view contents;   ///< what the file contains
  std::string_view exactness;  ///< how exactly it expresses the plan
};
/// Returns a row for each of exporters(), in their order.
const std::vector<const ExportRow*>& exportRows();

}  // namespace fusescope
