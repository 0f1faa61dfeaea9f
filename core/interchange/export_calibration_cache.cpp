
#include <fmt/format.h>

#include "base/text.h"
#include "calibration/ranges.h"
#include "interchange/export_notes.h"
#include "interchange/export_row.h"
#include "interchange/exports.h"
#include "interchange/precision_config.h"
#include "interchange/trt_version_option.h"

namespace fusescope {
namespace {

std::vector<ExportNote> notesOn(const Plan& plan, const Ranges& ranges) {
  std::vector<ExportNote> notes = tensorrtNotes(plan);
  std::int64_t shifted = 0;
  for (const auto& [value, edge] : ranges.edges) shifted += edge.range.low != -edge.range.high ? 1 : 0;
  if (shifted > 0)
    notes.push_back(
        {fmt::format("TensorRT's codes are symmetric: the ranges of {} become ± the larger end; calibrate "
                     "--symmetric chooses ranges for that",
                     counted(shifted, "edge"))});
  if (!ranges.weights.empty())
    notes.push_back(
        {fmt::format("the cache contains no ranges of {}, because TensorRT uses the largest weight of each channel",
                     counted(std::ssize(ranges.weights), "weight"))});
  if (!plan.options.directives.empty())
    notes.push_back(
        {"a calibration cache cannot contain pins: export the nodes that stay in floats with --to trtexec or --to "
         "polygraphy as well"});
  return notes;
}

/// Writes TensorRT's calibration cache, for --int8 --calib of trtexec up to 10.16: the ranges of the plan as one scale
/// for each edge. Errors: the plan has no ranges, the name of an edge cannot be written in a line, TensorRT 11 or
/// later.
Result<Exported> writeCalibrationCache(const Plan& plan, const ExportOptions& options) {
  if (plan.options.ranges == nullptr)
    return Diagnostic{.message = "the plan has no ranges, so there is nothing to write",
                      .where = {.attribute = "--ranges"},
                      .help = "Give the ranges that calibrate wrote, with --ranges."};
  if (options.text(kTrtVersionOption.name).empty())
    return Diagnostic{.message = "the version of TensorRT must be known, because the first line of the file names it",
                      .where = {.attribute = "--trt-version"},
                      .help = "For example: --trt-version 8.6.1 or 10.3."};
  const TrtVersion version = TRY(parseTrtVersion(options.text(kTrtVersionOption.name)));
  if (version.major >= 11)
    return Diagnostic{.message = fmt::format("TensorRT {} reads no calibration cache: since version 11.0 the network "
                                             "itself contains the quantised codes",
                                             version.text()),
                      .where = {.attribute = "--trt-version"},
                      .help = "Use --to onnx with --target tensorrt-11, which writes them into the network."};
  std::string text = TRY(tensorRtCacheText(*plan.options.ranges, version.number()));
  return Exported{std::move(text), notesOn(plan, *plan.options.ranges)};
}

}  // namespace

extern const ExportRow kCalibrationCacheRow{.readers = "`trtexec --int8 --calib`, up to 10.16",
                                            .contents = "the ranges, one scale per edge",
                                            .exactness = "symmetric; it does not contain ranges of weights or pins"};

extern const Exporter kCalibrationCacheExporter{
    .name = "tensorrt-calibration",
    .title = "TensorRT's calibration cache",
    .extension = "cache",
    .summary = "the plan's ranges as TensorRT's calibration cache (up to 10.16)",
    .write = writeCalibrationCache,
    .options = {&kTrtVersionOption}};

}  // namespace fusescope
