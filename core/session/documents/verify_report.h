#pragma once

#include <filesystem>

#include "session/artifact.h"
#include "session/documents/engine_reports.h"
#include "session/inputs/samples.h"
#include "verify/verify_regions.h"

namespace fusescope {

/// Files that reproduce a mismatch.
struct Reproducer {
  std::filesystem::path model, inputs, directives;
  std::string command;  ///< the command that verifies it
};

/// Writes the smallest wrong part of `mismatch` into `folder`, which is created: FOLDER/mismatch.onnx, mismatch.npz and
/// mismatch.json (its types). Errors: it has no such part, or it cannot be written.
Result<Reproducer> writeReproducer(const Mismatch& mismatch, const VerifyOptions& options,
                                   const std::filesystem::path& folder);

/// Returns {format "fusescope.verify", ok, samples, random_inputs, backend, regions[…], mismatch}. `reproducer` may be
/// null.
Json toJson(const VerifyReport& report, const Samples& samples, const VerifyOptions& options,
            const Reproducer* reproducer);

}  // namespace fusescope
