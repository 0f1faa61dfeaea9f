#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "base/result.h"
#include "cache/kept_store.h"

namespace fusescope {

/// The key that a team signs with. An empty key proves nothing; a signature then only shows that nothing was damaged.
struct SigningKey {
  std::string bytes;
};

/// Reads the key from a file of this user that nobody else may read or write (mode 0600) and that has at least 32
/// bytes. All bytes of the file are the key. Errors say which of these conditions is violated.
Result<SigningKey> readSigningKey(const std::filesystem::path& path);

/// Returns the name of an entry in a place: SHA-256 of the format version, kind and key, as 64 hexadecimal digits.
std::string sharedName(std::string_view kind, std::string_view key);

/// Returns the bytes that are sent to a place: all facts of an entry, and a signature of all of it. FORMAT.md describes
/// the layout. Errors: it is too large or cannot be packed.
Result<std::string> sealedBlob(const KeptFacts& facts, std::string_view key, std::string_view bytes,
                               const SigningKey& by);

/// Reads what a place returned for `kind` and `key`. The signature is checked before anything is parsed. Kept::where is
/// empty. Errors: it is not signed with that key, belongs to another entry, or cannot be unpacked.
Result<Kept> openedBlob(std::string_view blob, std::string_view kind, std::string_view key, const SigningKey& by);

}  // namespace fusescope
