#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace fusescope {

/// The key under which PyTorch's exporter writes the ranges of symbols, among the metadata of the main graph of an
/// .onnx file: "{s77: VR[1, 32], s10: VR[2, int_oo]}".
inline constexpr const char* kExporterRangesKey = "pkg.torch.export.ExportedProgram.range_constraints";

/// What a symbol may be; no `most`: any number.
struct ExporterRange {
  std::int64_t least = 0;
  std::optional<std::int64_t> most;
  bool operator==(const ExporterRange&) const = default;
};
/// By symbol, or by an expression of some.
using ExporterRanges = std::map<std::string, ExporterRange>;

/// Nothing where the text is not as PyTorch writes it.
std::optional<ExporterRanges> exporterRangesFromText(std::string_view text);
std::string exporterRangesText(const ExporterRanges& ranges);

/// The ranges under the names that extents have in the file, `symbols`. An exporter that was told names for extents
/// writes them there, and its own names here: where the file has one symbol and PyTorch one range, they are each
/// other's. What stays without a symbol is left out.
ExporterRanges rangesOfSymbols(const ExporterRanges& ranges, const std::set<std::string>& symbols);

}  // namespace fusescope
