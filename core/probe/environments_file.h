#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "probe/environment.h"

namespace fusescope {

/// The user's environments and the commands that the user has confirmed. Its format is in PROTOCOL.md.
struct EnvironmentsFile {
  std::vector<Environment> environments;
  std::vector<std::string> confirmed;
  void confirm(std::string_view command);
};

/// Returns an empty one if the file does not exist. Errors: it cannot be read, or a newer version wrote it.
Result<EnvironmentsFile> readEnvironmentsFile();

/// Reads the file, changes it and writes it, while other processes are locked out.
Status changeEnvironmentsFile(const std::function<Status(EnvironmentsFile&)>& change);

}  // namespace fusescope
