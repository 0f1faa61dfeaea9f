#include "cache/shared_blob.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <sys/stat.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstring>

#include "base/descriptor.h"
#include "cache/packing.h"

namespace fusescope {
namespace {

static_assert(std::endian::native == std::endian::little, "numbers of blobs are written as they lie in memory");

constexpr std::string_view kSharedMagic = "FSCSHARE";
constexpr std::uint32_t kSharedVersion = 1;
constexpr std::size_t kDigest = 32;  ///< bytes of a SHA-256 digest, and of an HMAC with SHA-256
constexpr std::size_t kLeastKey = 32, kMostKey = std::size_t{1} << 16;

/// The head of a blob. It is followed by the texts, in the order of their lengths, by the packed bytes and by the
/// signature.
struct SharedHead {
  std::array<char, 8> magic{};
  std::uint32_t version = 0;
  std::uint32_t kind = 0, about = 0, madeBy = 0;
  std::uint64_t key = 0, packed = 0, bytes = 0;
  double madeMs = 0;
  std::int64_t madeAt = 0;
};
static_assert(sizeof(SharedHead) == 64);

using Digest = std::array<unsigned char, kDigest>;

/// Returns nothing if the library has no SHA-256.
std::optional<Digest> signatureOf(std::string_view bytes, const SigningKey& by) {
  Digest digest{};
  unsigned int size = 0;
  const auto* data = reinterpret_cast<const unsigned char*>(bytes.data());
  const bool isDone = HMAC(EVP_sha256(), by.bytes.data(), static_cast<int>(by.bytes.size()), data, bytes.size(),
                           digest.data(), &size) != nullptr;
  return isDone && size == kDigest ? std::optional(digest) : std::nullopt;
}

/// Removes the first `size` bytes from `rest`, which must have as many, and returns them.
std::string_view takeFront(std::string_view& rest, std::uint64_t size) {
  const std::string_view first = rest.substr(0, size);
  rest.remove_prefix(first.size());
  return first;
}

bool hasSum(const SharedHead& head, std::uint64_t size) {
  for (const std::uint64_t part :
       {std::uint64_t{head.kind}, head.key, std::uint64_t{head.about}, std::uint64_t{head.madeBy}, head.packed}) {
    if (part > size) return false;
    size -= part;
  }
  return size == 0;
}

}  // namespace

Result<SigningKey> readSigningKey(const std::filesystem::path& path) {
  const auto wrong = [&](std::string what) {
    return Diagnostic{.message = std::move(what), .where = {.file = path.string()}};
  };
  const Descriptor open(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!open.isOpen()) return systemError(path, "the signing key cannot be opened");
  struct stat found {};
  if (::fstat(open.number(), &found) != 0) return systemError(path, "the signing key cannot be read");
  if (!S_ISREG(found.st_mode)) return wrong("the signing key is not a regular file");
  if (found.st_uid != ::geteuid()) return wrong("the signing key belongs to another user");
  if ((found.st_mode & 077) != 0)
    return wrong(fmt::format("the signing key has the mode {:04o}, so that others may use it; it must have 0600",
                             found.st_mode & 07777));
  SigningKey key{.bytes = std::string(kMostKey + 1, '\0')};
  std::size_t size = 0;
  while (size < key.bytes.size()) {
    const ssize_t count = ::read(open.number(), key.bytes.data() + size, key.bytes.size() - size);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return systemError(path, "the signing key cannot be read");
    if (count == 0) break;
    size += static_cast<std::size_t>(count);
  }
  if (size < kLeastKey || size > kMostKey)
    return wrong(fmt::format("the signing key must have {} to {} bytes", kLeastKey, kMostKey));
  key.bytes.resize(size);
  return key;
}

std::string sharedName(std::string_view kind, std::string_view key) {
  std::string text = fmt::format("fusescope.shared.{}", kSharedVersion);
  for (const std::string_view part : {kind, key}) text.append(1, '\0').append(part);
  Digest digest{};
  std::size_t size = 0;
  const bool isDone =
      EVP_Q_digest(nullptr, "SHA256", nullptr, text.data(), text.size(), digest.data(), &size) == 1 && size == kDigest;
  std::string name;
  for (const unsigned char byte : digest) name += fmt::format("{:02x}", byte);
  return isDone ? name : std::string();
}

Result<std::string> sealedBlob(const KeptFacts& facts, std::string_view key, std::string_view bytes,
                               const SigningKey& by) {
  if (bytes.size() > kMostUnpacked) return Diagnostic{.message = "it is larger than an entry can be"};
  const std::string body = TRY(packed(bytes));
  SharedHead head{.version = kSharedVersion,
                  .kind = static_cast<std::uint32_t>(facts.kind.size()),
                  .about = static_cast<std::uint32_t>(facts.about.size()),
                  .madeBy = static_cast<std::uint32_t>(facts.madeBy.size()),
                  .key = key.size(),
                  .packed = body.size(),
                  .bytes = bytes.size(),
                  .madeMs = facts.madeMs,
                  .madeAt = facts.madeAt};
  std::memcpy(head.magic.data(), kSharedMagic.data(), kSharedMagic.size());
  std::string blob;
  blob.reserve(sizeof head + key.size() + body.size() + 1024);
  blob.append(reinterpret_cast<const char*>(&head), sizeof head);
  blob.append(facts.kind).append(key).append(facts.about).append(facts.madeBy).append(body);
  const auto signature = signatureOf(blob, by);
  if (!signature) return Diagnostic{.message = "it cannot be signed"};
  return std::move(blob.append(reinterpret_cast<const char*>(signature->data()), signature->size()));
}

Result<Kept> openedBlob(std::string_view blob, std::string_view kind, std::string_view key, const SigningKey& by) {
  if (blob.size() < sizeof(SharedHead) + kDigest) return Diagnostic{.message = "is shorter than an entry can be"};
  std::string_view rest = blob.substr(0, blob.size() - kDigest);
  const auto signature = signatureOf(rest, by);
  if (!signature || CRYPTO_memcmp(signature->data(), blob.data() + rest.size(), kDigest) != 0)
    return Diagnostic{.message = by.bytes.empty() ? "is damaged, or is signed with a key and none is given"
                                                  : "is not signed with this key, or is damaged"};
  SharedHead head;
  std::memcpy(&head, takeFront(rest, sizeof head).data(), sizeof head);
  if (std::string_view(head.magic.data(), head.magic.size()) != kSharedMagic || head.version != kSharedVersion)
    return Diagnostic{.message = "has another version"};
  if (!hasSum(head, rest.size())) return Diagnostic{.message = "has other lengths than its header says"};
  if (takeFront(rest, head.kind) != kind || takeFront(rest, head.key) != key)
    return Diagnostic{.message = "belongs to another entry"};
  Kept kept;
  kept.facts.kind = kind;
  kept.facts.about = takeFront(rest, head.about);
  kept.facts.madeBy = takeFront(rest, head.madeBy);
  kept.facts.madeMs = std::isfinite(head.madeMs) && head.madeMs > 0 ? head.madeMs : 0;
  kept.madeAt = head.madeAt;
  kept.bytes = TRY(unpacked(rest, head.bytes));
  return kept;
}

}  // namespace fusescope
