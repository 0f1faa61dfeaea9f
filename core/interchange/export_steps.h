#pragma once

#include <filesystem>
#include <string_view>

#include "base/temporary_folder.h"
#include "interchange/export_onnx.h"
#include "onnxlib/network_edits.h"

namespace fusescope {

// The steps of writeOnnx().

/// The error that no file was named.
Status checkPath(const ExportOptions& options);
/// A folder beside the file to be written, for networks that are being made.
Result<TemporaryFolder> folderBeside(const std::filesystem::path& path, std::string_view purpose);
/// Files in `folder` are written only to be tried, and are gone when a user reads of them. An error that is located at
/// one of them is located at `source` instead, from which it was made.
Diagnostic located(Diagnostic error, const std::filesystem::path& folder, const std::filesystem::path& source);
/// Asks ONNX's checker about the network at `path`, which was made from `source`. Errors: the checker refuses it, and
/// does not refuse `source`.
Status checkByOnnx(const std::filesystem::path& path, const std::filesystem::path& source);
/// The error that the network or its weights are to be written where `read` or `plan` was read from.
Status checkNotWrittenOver(const std::filesystem::path& path, const Plan& plan, const onnxlib::NetworkBytes& read);

/// The network of `plan` with the plan's types. `wished`: the plan whose numbers are judged; `plan`: the same one, or
/// that of its network with its codes written.
Result<Exported> writeTypes(const Plan& plan, const Plan& wished, const ExportOptions& options);
/// A plan that quantises: first the network with its codes, then that with the other types of the plan.
Result<Exported> writeQuantized(const Plan& plan, const ExportOptions& options);

}  // namespace fusescope
