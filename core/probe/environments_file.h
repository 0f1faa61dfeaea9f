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

/// An empty one where there is no file. Errors: it cannot be read, or it is of a newer version.
Result<EnvironmentsFile> readEnvironmentsFile();

/// Reads the file, changes it and writes it again, while no other process can.
Status changeEnvironmentsFile(const std::function<Status(EnvironmentsFile&)>& change);

}  // namespace fusescope
