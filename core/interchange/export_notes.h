#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "interchange/exports.h"

namespace fusescope {

/// What was asked for by pins and pinned outputs and is not so in the plan, with the plan's reasons; each once.
std::vector<ExportNote> pinsNotHonoured(const Plan& plan);

/// What a reader of an export for TensorRT must know: pins that were not honoured, and a plan made for another target.
std::vector<ExportNote> tensorrtNotes(const Plan& plan);

/// The notes as lines that begin with "# ".
std::string asComments(const std::vector<ExportNote>& notes);

/// Strongly typed TensorRT takes no layer precisions. The error says which edits of the network stand in their place.
Status refuseStronglyTyped(const Plan& plan, std::string_view format);

/// The workspace limit in MiB, as both trtexec and Polygraphy write it: "64", "0.25"; empty if there is none.
std::string workspaceMiB(const Plan& plan);

/// What Casts cost more or less than others: "1 more Cast and 768 bytes less to move".
std::string changeOfCasts(std::int64_t casts, std::int64_t bytes);

}  // namespace fusescope
