#pragma once

#include "base/temporary_folder.h"

namespace fusescope {

/// Creates a folder for files from other machines. Errors: it cannot be created.
inline Result<TemporaryFolder> answerFolder() {
  std::error_code failed;
  const auto parent = std::filesystem::temp_directory_path(failed);
  if (failed) return Diagnostic{.message = "no folder for answers can be created: " + failed.message()};
  return TemporaryFolder::in(parent, "fusescope-answers");
}

}  // namespace fusescope
