#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "interchange/exports.h"

namespace fusescope {

/// Returns notes about pins and pinned outputs that the plan does not satisfy, with the plan's reasons, without
/// duplicates.
std::vector<ExportNote> pinsNotHonoured(const Plan& plan);

/// Returns what a reader of an export for TensorRT must know: pins that were not honoured, and whether the plan was
/// made for another target.
std::vector<ExportNote> tensorrtNotes(const Plan& plan);

/// Returns the notes as lines that begin with "# ".
std::string asComments(const std::vector<ExportNote>& notes);

/// Returns an error for strongly typed TensorRT, which has no layer precisions. The error names the edits of the
/// network that replace them.
Status refuseStronglyTyped(const Plan& plan, std::string_view format);

/// Returns the workspace limit in MiB, in the form of trtexec and Polygraphy: "64", "0.25"; empty if there is none.
std::string workspaceMiB(const Plan& plan);

/// Returns the change in the number of Casts and in bytes as text: "1 more Cast and 768 bytes less to move".
std::string changeOfCasts(std::int64_t casts, std::int64_t bytes);

}  // namespace fusescope
