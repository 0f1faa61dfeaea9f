#include "cache/folder_place.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <random>

#include "cache/folder_contents.h"

namespace fusescope {
namespace {

namespace fs = std::filesystem;

/// When an entry is found, it is marked as used if the last mark is older than this many seconds.
constexpr std::int64_t kUsedSeconds = 3600;
constexpr std::size_t kPiece = std::size_t{1} << 20;

using Found = std::optional<std::string>;

/// Opens a folder inside another one, and makes it if `made` is given, whose rights it then gets. The result is not
/// open if the folder does not exist or is not a folder.
Descriptor openIn(int folder, const char* name, const struct stat* made) {
  constexpr int kHow = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
  Descriptor open(::openat(folder, name, kHow));
  if (open.isOpen() || errno != ENOENT || made == nullptr) return open;
  const bool isMade = ::mkdirat(folder, name, made->st_mode & 0777) == 0;
  if (!isMade && errno != EEXIST) return open;
  open = Descriptor(::openat(folder, name, kHow));
  if (isMade && open.isOpen()) std::ignore = ::fchmod(open.number(), made->st_mode & 07777);
  return open;
}

/// Opens the folder for a name; there are two levels of folders, which the first four digits of the name determine.
Descriptor openLeaf(const OpenFolder& root, const std::string& name, bool makes) {
  const struct stat* made = makes ? &root.found : nullptr;
  const Descriptor first = openIn(root.file.number(), name.substr(0, 2).c_str(), made);
  return first.isOpen() ? openIn(first.number(), name.substr(2, 2).c_str(), made) : Descriptor();
}

/// Returns whether the error means that there is no entry: no file, another kind of file, or one that this user cannot
/// open.
bool isNothingThere(int error) {
  return error == ENOENT || error == ELOOP || error == ENOTDIR || error == EACCES || error == ENXIO || error == ESTALE;
}

/// Sets the time of modification, by which entries are removed, to now. A file of another user remains unchanged.
void markUsed(int file, const struct stat& found) {
  timespec now{};
  if (::clock_gettime(CLOCK_REALTIME, &now) != 0 || found.st_mtime + kUsedSeconds > now.tv_sec) return;
  const timespec times[] = {{.tv_sec = 0, .tv_nsec = UTIME_OMIT}, {.tv_sec = 0, .tv_nsec = UTIME_NOW}};
  std::ignore = ::futimens(file, times);
}

Result<Found> readIn(const fs::path& folder, const FolderPlaceOptions& options, const std::string& name,
                     TransferDeadline& deadline) {
  const OpenFolder root = TRY(openRoot(folder, options.trust));
  const fs::path path = folder / name.substr(0, 2) / name.substr(2, 2) / name;
  const Descriptor leaf = openLeaf(root, name, false);
  if (!leaf.isOpen()) return isNothingThere(errno) ? Result<Found>(Found()) : systemError(path, "cannot be opened");
  const Descriptor file(::openat(leaf.number(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
  if (!file.isOpen()) return isNothingThere(errno) ? Result<Found>(Found()) : systemError(path, "cannot be opened");
  struct stat found {
  }, above{};
  if (::fstat(file.number(), &found) != 0 || ::fstat(leaf.number(), &above) != 0)
    return systemError(path, "cannot be read");
  if (!S_ISREG(found.st_mode) || static_cast<std::uint64_t>(found.st_size) > options.mostBytes) return Found();
  if (options.trust == FolderTrust::Private && (!isOwn(found) || !isOwn(above))) return writableByOthers(path);
  const auto size = static_cast<std::size_t>(found.st_size);
  std::string bytes;
  bytes.reserve(size);  // reserved, not resized: writing zeros first takes longer than the caller waits
  while (bytes.size() < size) {
    if (deadline.isOver()) return Diagnostic{.message = "it takes too long"};
    const std::size_t at = bytes.size();
    bytes.resize(at + std::min(kPiece, size - at));
    const ssize_t count = ::read(file.number(), bytes.data() + at, bytes.size() - at);
    const int why = errno;
    bytes.resize(at + static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
    errno = why;
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == ESTALE) return Found();  // another machine has removed it meanwhile
    if (count < 0) return systemError(path, "cannot be read");
    if (count == 0) break;
    deadline.moved(static_cast<std::size_t>(count));
  }
  markUsed(file.number(), found);
  return Found(std::move(bytes));
}

/// Writes the bytes piece by piece and stops when the deadline is over. If it returns false, errno contains the reason.
bool writePieces(int file, std::string_view bytes, TransferDeadline& deadline) {
  while (!bytes.empty()) {
    errno = ETIMEDOUT;
    if (deadline.isOver()) return false;
    const ssize_t count = ::write(file, bytes.data(), std::min(kPiece, bytes.size()));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(count));
    deadline.moved(static_cast<std::size_t>(count));
  }
  return true;
}

std::string unfinishedName(const std::string& name) {
  std::random_device random;
  return fmt::format("{}.{:08x}{:08x}{:08x}", name, random(), random(), random());
}

/// Nothing is flushed to the disk, because that takes longer than everything else; readers check what they read.
Result<PutAnswer> writeIn(const fs::path& folder, const FolderPlaceOptions& options, const std::string& name,
                          const std::string& bytes, bool sweeps, TransferDeadline& deadline) {
  const OpenFolder root = TRY(openRoot(folder, options.trust));
  const auto refused = [&]() -> Result<PutAnswer> {
    auto why = systemError(folder, "nothing can be written there");
    if (errno == ETIMEDOUT) return why;
    return PutAnswer{.refusal = why.text()};
  };
  const Descriptor leaf = openLeaf(root, name, true);
  if (!leaf.isOpen()) return refused();
  const Descriptor unfinished = openIn(root.file.number(), kUnfinishedFolder, &root.found);
  if (!unfinished.isOpen()) return refused();
  const std::string part = unfinishedName(name);
  constexpr int kHow = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
  Descriptor file(::openat(unfinished.number(), part.c_str(), kHow, 0600));
  if (!file.isOpen()) return refused();
  struct stat made {};
  bool isDone = writePieces(file.number(), bytes, deadline) && ::fstat(file.number(), &made) == 0 &&
                ::fchmod(file.number(), (root.found.st_mode & 0444) | 0600) == 0;
  // A network file system may report only here that writing failed.
  if (isDone) isDone = ::close(file.release()) == 0;
  if (isDone) isDone = ::renameat(unfinished.number(), part.c_str(), leaf.number(), name.c_str()) == 0;
  if (!isDone) {
    const int why = errno;
    ::unlinkat(unfinished.number(), part.c_str(), 0);
    errno = why;
    return refused();
  }
  if (sweeps) removeUnfinished(unfinished.number(), made.st_mtime);
  return PutAnswer{};
}

class FolderPlace final : public SharedPlace {
 public:
  FolderPlace(fs::path folder, FolderPlaceOptions options)
      : m_folder(std::move(folder)), m_options(std::move(options)) {}

  std::string_view kind() const override { return "shared folder"; }
  std::string where() const override { return m_folder.string(); }
  std::uint64_t mostBytes() const override { return m_options.mostBytes; }

  Result<Found> get(const std::string& name) override {
    if (!isSharedName(name)) return Diagnostic{.message = "this is not the name of a shared entry"};
    return m_behind.run<Found>(m_options.limit,
                               [folder = m_folder, options = m_options, name](TransferDeadline& deadline) {
                                 if (options.onBegin) options.onBegin();
                                 return readIn(folder, options, name, deadline);
                               });
  }

  Result<PutAnswer> put(const std::string& name, std::string bytes) override {
    if (!isSharedName(name)) return Diagnostic{.message = "this is not the name of a shared entry"};
    const bool sweeps = !std::exchange(m_wasSwept, true);
    return m_behind.run<PutAnswer>(m_options.limit, [folder = m_folder, options = m_options, name, sweeps,
                                                     bytes = std::move(bytes)](TransferDeadline& deadline) {
      if (options.onBegin) options.onBegin();
      return writeIn(folder, options, name, bytes, sweeps, deadline);
    });
  }

  bool isWronglySet() override {
    const auto isWrong = m_behind.run<bool>(
        m_options.limit, [folder = m_folder, trust = m_options.trust](TransferDeadline&) -> Result<bool> {
          return !openRoot(folder, trust).ok();
        });
    return isWrong.ok() && isWrong.value();
  }

  Result<PlaceContents> contents(std::chrono::milliseconds limit) override {
    return m_behind.run<PlaceContents>(limit, [folder = m_folder, trust = m_options.trust](TransferDeadline& deadline) {
      return countedIn(folder, trust, deadline);
    });
  }

  Result<PlaceCollected> collect(std::int64_t mostBytes, std::chrono::milliseconds limit) override {
    return m_behind.run<PlaceCollected>(
        limit, [folder = m_folder, trust = m_options.trust, mostBytes](TransferDeadline& deadline) {
          return collectedIn(folder, trust, mostBytes, deadline);
        });
  }

 private:
  const fs::path m_folder;
  const FolderPlaceOptions m_options;
  AbandonableWork m_behind;
  bool m_wasSwept = false;
};

}  // namespace

std::unique_ptr<SharedPlace> folderPlace(fs::path folder, FolderPlaceOptions options) {
  return std::make_unique<FolderPlace>(std::move(folder), std::move(options));
}

}  // namespace fusescope
