#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "base/json.h"

namespace fusescope {

/// A question to a compiler. The operations and their fields are described in core/probe/PROTOCOL.md.
struct ProbeRequest {
  Json json;  ///< an object with the field "op"
  std::map<std::string, std::filesystem::path>
      files;  ///< for each name that the probe uses, the path of the file on this machine
  /// The folder for the files of the answer, which must exist. If it is empty, they are in a temporary folder of the
  /// job.
  std::filesystem::path folder{};
};

struct ProbeAnswer {
  Json json;  ///< an object
  std::map<std::string, std::filesystem::path>
      files;  ///< the files that the compiler wrote: for each of its names, the path on this machine
};

}  // namespace fusescope
