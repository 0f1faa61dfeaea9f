#pragma once

#include <cstdint>
#include <string_view>

#include "base/json_fwd.h"
#include "base/result.h"
#include "frontends/torch/exported_program.h"

namespace fusescope::torch {

/// Parses the JSON of an exported program as torch does: Python writes NaN and Infinity, which become texts here. It is
/// an error if the text is not JSON or is nested too deeply.
Result<Json> programJsonOf(std::string_view text);

/// Reads the JSON of an exported program, schemas 7 and 8. Errors name the field: "graph_module.graph.nodes[3].outputs:
/// must be a list". An argument of an unknown kind is kept as its JSON text.
Result<ExportedProgram> parseExportedProgram(std::string_view json, std::int64_t mostNodes);

}  // namespace fusescope::torch
