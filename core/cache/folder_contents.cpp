// Decides which folder is used, lists what is in it, and removes entries while other processes use it.
#include "cache/folder_contents.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <functional>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

namespace fusescope {
namespace {

namespace fs = std::filesystem;

constexpr mode_t kOthersWrite = S_IWGRP | S_IWOTH;
/// An unfinished file that is older than this many seconds was left behind by a process that was ended.
constexpr std::int64_t kUnfinishedSeconds = 3600;

/// Returns whether a folder that contains a private one is safe. It may belong to the system. If everybody may write to
/// it (as to /tmp), it must not allow users to replace the files of others.
bool isSafeAbove(const struct stat& found) {
  const bool isOfOthers = found.st_uid != 0 && found.st_uid != ::geteuid();
  return !isOfOthers && ((found.st_mode & kOthersWrite) == 0 || (found.st_mode & S_ISVTX) != 0);
}

/// Calls `action` with each name in a folder. Returns false if the folder cannot be read.
bool forEachIn(int folder, const std::function<void(const char*)>& action) {
  const int again = ::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const std::unique_ptr<DIR, int (*)(DIR*)> list(again < 0 ? nullptr : ::fdopendir(again), ::closedir);
  if (list == nullptr) return false;
  while (const dirent* entry = ::readdir(list.get())) action(entry->d_name);
  return true;
}

/// An entry, with the facts about its file at the time when it was listed.
struct EntryFile {
  std::string name;
  std::int64_t usedAt;  ///< in nanoseconds
  std::int64_t bytes;
  ino_t inode;
};

std::int64_t usedAt(const struct stat& found) {
  return std::int64_t{found.st_mtim.tv_sec} * 1'000'000'000 + found.st_mtim.tv_nsec;
}

Descriptor folderIn(int folder, const std::string& name) {
  return Descriptor(::openat(folder, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

bool isPrefix(std::string_view name) {
  return name.size() == 2 && name.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

/// Lists the entries in all folders. Other files are ignored, and links are not followed.
Result<std::vector<EntryFile>> entriesIn(int root, TransferDeadline& deadline) {
  std::vector<EntryFile> entries;
  const auto addLeaf = [&](int leaf) {
    forEachIn(leaf, [&](const char* name) {
      struct stat found {};
      if (isSharedName(name) && !deadline.isOver() && ::fstatat(leaf, name, &found, AT_SYMLINK_NOFOLLOW) == 0 &&
          S_ISREG(found.st_mode))
        entries.push_back({name, usedAt(found), found.st_size, found.st_ino});
    });
  };
  const auto addBelow = [&](int folder, const auto& action) {
    forEachIn(folder, [&](const char* name) {
      if (!isPrefix(name) || deadline.isOver()) return;
      if (const Descriptor below = folderIn(folder, name); below.isOpen()) action(below.number());
    });
  };
  addBelow(root, [&](int first) { addBelow(first, addLeaf); });
  if (deadline.isOver()) return Diagnostic{.message = "listing all of it takes too long"};
  return entries;
}

/// Removes the file of an entry. Returns false, and removes nothing, if the entry was used or replaced since it was
/// listed.
bool isRemoved(int root, const EntryFile& entry) {
  const Descriptor first = folderIn(root, entry.name.substr(0, 2));
  const Descriptor leaf = first.isOpen() ? folderIn(first.number(), entry.name.substr(2, 2)) : Descriptor();
  struct stat found {};
  return leaf.isOpen() && ::fstatat(leaf.number(), entry.name.c_str(), &found, AT_SYMLINK_NOFOLLOW) == 0 &&
         found.st_ino == entry.inode && usedAt(found) == entry.usedAt &&
         ::unlinkat(leaf.number(), entry.name.c_str(), 0) == 0;
}

PlaceContents contentsOf(const std::vector<EntryFile>& entries) {
  PlaceContents contents;
  for (const EntryFile& entry : entries) {
    ++contents.entries;
    contents.bytes += entry.bytes;
  }
  return contents;
}

}  // namespace

bool isOwn(const struct stat& found) {
  return found.st_uid == ::geteuid() && (found.st_mode & kOthersWrite) == 0;
}

Diagnostic writableByOthers(const fs::path& path) {
  return {
      .message =
          "can be written by other users, and without a signing key only a folder that no other user can write is used",
      .where = {.file = path.string()}};
}

bool isSharedName(std::string_view name) {
  return name.size() == 64 && name.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

Result<OpenFolder> openRoot(const fs::path& folder, FolderTrust trust) {
  OpenFolder root{.file = Descriptor(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC))};
  if (!root.file.isOpen() || ::fstat(root.file.number(), &root.found) != 0)
    return systemError(folder, "cannot be opened");
  if (trust == FolderTrust::Signed) return root;
  if (!isOwn(root.found)) return writableByOthers(folder);
  std::error_code failed;
  fs::path above = fs::canonical(folder, failed);
  struct stat found {};
  if (failed || ::stat(above.c_str(), &found) != 0 || found.st_ino != root.found.st_ino ||
      found.st_dev != root.found.st_dev)
    return writableByOthers(folder);
  while (above.has_relative_path()) {
    above = above.parent_path();
    if (::lstat(above.c_str(), &found) != 0 || !isSafeAbove(found)) return writableByOthers(above);
  }
  return root;
}

std::int64_t removeUnfinished(int folder, std::int64_t now) {
  std::int64_t removed = 0;
  forEachIn(folder, [&](const char* name) {
    struct stat found {};
    if (::fstatat(folder, name, &found, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(found.st_mode) &&
        found.st_mtime + kUnfinishedSeconds < now && ::unlinkat(folder, name, 0) == 0)
      ++removed;
  });
  return removed;
}

Result<PlaceContents> countedIn(const fs::path& folder, FolderTrust trust, TransferDeadline& deadline) {
  const OpenFolder root = TRY(openRoot(folder, trust));
  return contentsOf(TRY(entriesIn(root.file.number(), deadline)));
}

/// Folders are not removed, because a writer may have opened one in order to put a file there.
Result<PlaceCollected> collectedIn(const fs::path& folder, FolderTrust trust, std::int64_t mostBytes,
                                   TransferDeadline& deadline) {
  const OpenFolder root = TRY(openRoot(folder, trust));
  std::vector<EntryFile> entries = TRY(entriesIn(root.file.number(), deadline));
  std::ranges::sort(entries, {}, [](const EntryFile& entry) { return std::tie(entry.usedAt, entry.name); });
  PlaceCollected collected{.left = contentsOf(entries)};
  for (const EntryFile& entry : entries) {
    if (collected.left.bytes <= mostBytes || deadline.isOver()) break;
    if (!isRemoved(root.file.number(), entry)) continue;
    ++collected.removed;
    --collected.left.entries;
    collected.left.bytes -= entry.bytes;
  }
  if (const Descriptor unfinished = folderIn(root.file.number(), kUnfinishedFolder); unfinished.isOpen())
    collected.unfinished = removeUnfinished(unfinished.number(), std::time(nullptr));
  return collected;
}

}  // namespace fusescope
