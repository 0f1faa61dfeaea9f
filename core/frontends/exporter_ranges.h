#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace fusescope {

/// The key under which PyTorch's exporter writes the ranges of symbols into the metadata of the main graph of an .onnx
/// file: "{s77: VR[1, 32], s10: VR[2, int_oo]}".
inline constexpr const char* kExporterRangesKey = "pkg.torch.export.ExportedProgram.range_constraints";

/// The range of a symbol. If there is no `most`, it has no upper limit.
struct ExporterRange {
  std::int64_t least = 0;
  std::optional<std::int64_t> most;
  bool operator==(const ExporterRange&) const = default;
};
/// The ranges by symbol, or by an expression of symbols.
using ExporterRanges = std::map<std::string, ExporterRange>;

/// Returns nothing if the text does not have PyTorch's form.
std::optional<ExporterRanges> exporterRangesFromText(std::string_view text);
std::string exporterRangesText(const ExporterRanges& ranges);

/// Returns the ranges under the names that extents have in the file, which are `symbols`. If the exporter was given
/// names for extents, the file contains these, while the ranges have PyTorch's own names. If the file then has one
/// symbol and PyTorch one range, they belong together. Ranges without a symbol are left out.
ExporterRanges rangesOfSymbols(const ExporterRanges& ranges, const std::set<std::string>& symbols);

}  // namespace fusescope
