#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "base/result.h"
#include "cache/kept_store.h"

namespace fusescope {

/// What a team signs with. Without bytes it proves nothing, and a signature only shows that nothing was damaged.
struct SigningKey {
  std::string bytes;
};

/// Reads the key from a file of this user that nobody else may read or write (mode 0600) and that has at least 32
/// bytes. All bytes of the file are the key. Errors say which of these does not hold.
Result<SigningKey> readSigningKey(const std::filesystem::path& path);

/// The name under which a place has what is kept: SHA-256 of the version of the format, kind and key, as 64 hexadecimal
/// digits.
std::string sharedName(std::string_view kind, std::string_view key);

/// What is handed to a place: everything that is known of an entry, and a signature over all of it. FORMAT.md has the
/// layout. Errors: it is too large, or cannot be packed.
Result<std::string> sealedBlob(const KeptFacts& facts, std::string_view key, std::string_view bytes,
                               const SigningKey& by);

/// What a place gave for `kind` and `key`. The signature is checked before anything is parsed. Kept::where is empty.
/// Errors: it is not signed by that key, was kept for something else, or cannot be unpacked.
Result<Kept> openedBlob(std::string_view blob, std::string_view kind, std::string_view key, const SigningKey& by);

}  // namespace fusescope
