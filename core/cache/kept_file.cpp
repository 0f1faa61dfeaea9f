#include "cache/kept_file.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <set>
#include <utility>

#include "base/files.h"
#include "cache/shared_store.h"

namespace fusescope {
namespace {

constexpr std::string_view kKeptFileMagic = "FSCKEPT1";
/// The largest lengths of names and keys and of blobs that a store writes. A longer one in a file means that the file
/// is damaged.
constexpr std::uint64_t kMostName = 256, kMostEntry = std::uint64_t{1} << 31;

/// Precedes each entry: the lengths of its texts, which follow in this order, and of its sealed blob (shared_blob.h).
struct KeptFileEntry {
  std::uint64_t kind = 0, key = 0, blob = 0;
};
static_assert(sizeof(KeptFileEntry) == 24);

Status checkOnlyOwn(const std::filesystem::path& named) {
  std::error_code unknown;
  const auto path = std::filesystem::canonical(named, unknown);
  if (unknown) return Done{};  // readers report the reason
  const auto refused = [&](const char* why) {
    return Diagnostic{.message = why,
                      .where = {.file = path.string()},
                      .help =
                          "Give the key with which it was signed in FUSESCOPE_SHARED_STORE_KEY, or keep the file in "
                          "a folder that only you can write."};
  };
  struct stat found {};
  if (::lstat(path.c_str(), &found) != 0) return Done{};  // readers report the reason
  if (found.st_uid != ::geteuid() || (found.st_mode & (S_IWGRP | S_IWOTH)) != 0)
    return refused("the file is not signed, and others can write it");
  const auto folder = path.parent_path().string();
  const auto place = SharedStore::open(folder, {}, {.mode = CacheMode::Read});
  place->ping();
  if (!place->problem().empty()) return refused("the file is not signed, and others can write its folder");
  return Done{};
}

/// Returns whether the file begins as an exported one does.
bool isKeptFile(std::istream& file) {
  std::string magic(kKeptFileMagic.size(), '\0');
  return file.read(magic.data(), static_cast<std::streamsize>(magic.size())) && magic == kKeptFileMagic;
}

/// An empty file may be replaced, such as one that a script made for a name of its own.
Status checkReplaceable(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file || file.peek() == std::ifstream::traits_type::eof() || isKeptFile(file)) return Done{};
  return Diagnostic{.message = "the file exists and is not a file of cache entries, so that it is not replaced",
                    .where = {.file = path.string()},
                    .help = "Give another name, or remove the file."};
}

Diagnostic endsEarly(const std::filesystem::path& path) {
  return {.message = "the file ends early or is damaged: the entries before that were kept",
          .where = {.file = path.string()}};
}

}  // namespace

Result<KeptFileWritten> writeKeptFile(DiskStore& store, const std::filesystem::path& path, const SigningKey& by) {
  TRY(checkReplaceable(path));
  KeptFileWritten written;
  const auto write = [&](const std::filesystem::path& temporary) -> Status {
    std::ofstream file(temporary, std::ios::binary);
    file << kKeptFileMagic;
    for (const StoreEntry& entry : store.entries()) {
      if (!isValidElsewhere(entry.facts.kind)) continue;
      const auto bytes = store.bytesOf(entry);
      if (!bytes.ok()) continue;  // the blob is damaged, or was removed meanwhile
      KeptFacts facts = entry.facts;
      facts.madeAt = entry.madeAt;
      const std::string blob = TRY(sealedBlob(facts, entry.key, bytes.value(), by));
      const KeptFileEntry head{facts.kind.size(), entry.key.size(), blob.size()};
      file.write(reinterpret_cast<const char*>(&head), sizeof head);
      file << facts.kind << entry.key << blob;
      ++written.entries;
    }
    written.bytes = static_cast<std::int64_t>(file.tellp());
    file.close();
    if (file) return Done{};
    return Diagnostic{.message = "the file cannot be written", .where = {.file = path.string()}};
  };
  TRY(writeFileAtomically(path, write));
  return written;
}

Result<KeptFileRead> readKeptFile(DiskStore& store, const std::filesystem::path& path, const SigningKey& by) {
  if (by.bytes.empty()) TRY(checkOnlyOwn(path));
  std::ifstream file(path, std::ios::binary);
  if (!file) return Diagnostic{.message = "the file cannot be read", .where = {.file = path.string()}};
  if (!isKeptFile(file))
    return Diagnostic{.message = "this is not a file of cache entries",
                      .where = {.file = path.string()},
                      .help = "Give a file that fusescope cache export wrote."};
  KeptFileRead read;
  std::set<std::pair<std::string, std::string>> known;
  for (const StoreEntry& entry : store.entries()) known.emplace(entry.facts.kind, entry.key);
  KeptFileEntry head;
  while (file.read(reinterpret_cast<char*>(&head), sizeof head)) {
    if (head.kind > kMostName || head.key > kMostEntry || head.blob > kMostEntry) return endsEarly(path);
    const auto text = [&](std::uint64_t size) {
      std::string bytes;
      // The bytes are read in pieces, so that a damaged length does not allocate as much memory as it says.
      for (constexpr std::uint64_t kPiece = 1 << 20; bytes.size() < size && file;) {
        const std::uint64_t begin = bytes.size(), more = std::min(kPiece, size - begin);
        bytes.resize(begin + more);
        file.read(bytes.data() + begin, static_cast<std::streamsize>(more));
      }
      return bytes;
    };
    const std::string kind = text(head.kind), key = text(head.key), blob = text(head.blob);
    if (!file) return endsEarly(path);
    const auto opened = openedBlob(blob, kind, key, by);
    if (!opened.ok()) {
      read.refused.push_back({.about = kind, .why = opened.error().message});
    } else if (known.contains({kind, key})) {
      ++read.known;
    } else {
      KeptFacts facts = opened.value().facts;
      facts.madeAt = opened.value().madeAt;
      if (store.keep(facts, key, opened.value().bytes)) {
        ++read.kept;
        known.emplace(kind, key);
      } else {
        ++read.notKept;
      }
    }
  }
  if (file.gcount() != 0) return endsEarly(path);
  return read;
}

}  // namespace fusescope
