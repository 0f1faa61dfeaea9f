#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/result.h"
#include "base/temporary_folder.h"
#include "probe/probe_job.h"

namespace fusescope {

/// An answer with its files, read from the bytes of an entry of the store.
struct RestoredAnswer {
  ProbeAnswer answer;
  TemporaryFolder folder;  ///< contains the files, which exist as long as this object
};

/// Returns the bytes of a key.
std::string keyBytes(const Json& key);

/// Returns how many bytes the files have together. A file that does not exist has none.
std::uintmax_t totalBytes(const std::map<std::string, std::filesystem::path>& files);

/// Returns the bytes of an entry that contains an answer: a line of JSON, followed by the bytes of all files. `more`
/// has further members of this line. Returns nothing if the files are larger than 1 GiB or cannot be read.
std::optional<std::string> entryOf(const ProbeAnswer& answer, const Json& more);

/// Returns the line of JSON at the beginning of an entry; null if it is none.
Json headOf(std::string_view entry);

/// Reads an entry, and writes its files into a new folder. Errors: it is no such entry; a file cannot be written.
Result<RestoredAnswer> restoredAnswer(std::string_view entry);

}  // namespace fusescope
