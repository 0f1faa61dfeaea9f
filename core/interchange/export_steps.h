#pragma once

#include <filesystem>
#include <string_view>

#include "base/temporary_folder.h"
#include "interchange/exports.h"
#include "onnxlib/edited_network.h"

namespace fusescope {

// The steps of writeOnnx().

/// Returns an error if no file was named.
Status checkPath(const ExportOptions& options);
/// Creates a folder beside the file to be written, for intermediate networks.
Result<TemporaryFolder> folderBeside(const std::filesystem::path& path, std::string_view purpose);
/// Files in `folder` exist only during the export, and are deleted when a user reads the error. An error that is
/// located at one of them is located at `source` instead, from which the file was made.
Diagnostic located(Diagnostic error, const std::filesystem::path& folder, const std::filesystem::path& source);
/// Runs ONNX's checker on the network at `path`, which was made from `source`. Errors: the checker refuses it, but not
/// `source`.
Status checkByOnnx(const std::filesystem::path& path, const std::filesystem::path& source);
/// Returns an error if the network or its weights would overwrite a file from which `read` or `plan` was read.
Status checkNotWrittenOver(const std::filesystem::path& path, const Plan& plan, const onnxlib::NetworkBytes& read);

/// Writes the network of `plan` with the plan's types. `judged` is the plan whose numbers are checked; `plan` is the
/// same one, or that of its network with the quantised codes written.
Result<Exported> writeTypes(const Plan& plan, const Plan& judged, const ExportOptions& options);
/// Writes a plan that quantises: first the network with its codes, then the other types of the plan.
Result<Exported> writeQuantized(const Plan& plan, const ExportOptions& options);

}  // namespace fusescope
