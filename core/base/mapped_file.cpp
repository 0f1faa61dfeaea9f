#include "base/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <chrono>
#include <map>
#include <mutex>

#include "base/descriptor.h"

namespace fusescope {
namespace {

constexpr const char* kReload = "Open it again.";

Diagnostic changed(const std::string& path) {
  return {.message = "the file changed while it was open", .where = {.file = path}, .help = kReload};
}

Diagnostic shorter(const std::string& path) {
  return {.message = "the file became shorter while it was read", .where = {.file = path}, .help = kReload};
}

std::int64_t nanoseconds(const timespec& time) {
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

FileIdentity identityFrom(const std::filesystem::path& path, const struct stat& info) {
  return {.path = path.string(),
          .device = info.st_dev,
          .inode = info.st_ino,
          .bytes = info.st_size,
          .modifiedNs = nanoseconds(info.st_mtim),
          .changedNs = nanoseconds(info.st_ctim)};
}

bool sameFile(const FileIdentity& a, const FileIdentity& b) {
  return a.device == b.device && a.inode == b.inode;
}

Result<std::span<const std::byte>> mapped(const Descriptor& file, const std::filesystem::path& path,
                                          std::size_t bytes) {
  void* address = ::mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, file.number(), 0);
  if (address == MAP_FAILED) return systemError(path, "cannot map");
  return std::span(static_cast<const std::byte*>(address), bytes);
}

/// The files that are mapped now.
class OpenFiles {
 public:
  std::shared_ptr<const MappedFile> find(const FileIdentity& identity) {
    const std::scoped_lock lock(m_mutex);
    const auto found = m_files.find(identity);
    auto file = found == m_files.end() ? nullptr : found->second.lock();
    return file != nullptr && !file->damaged() ? file : nullptr;
  }
  void add(const std::shared_ptr<const MappedFile>& file) {
    const std::scoped_lock lock(m_mutex);
    std::erase_if(m_files, [](const auto& entry) { return entry.second.expired(); });
    m_files[file->identity()] = file;
  }

 private:
  std::mutex m_mutex;
  std::map<FileIdentity, std::weak_ptr<const MappedFile>> m_files;
};

OpenFiles& openFiles() {
  static OpenFiles files;
  return files;
}

}  // namespace

Result<FileIdentity> identityOf(const std::filesystem::path& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return systemError(path, "cannot read its status");
  return identityFrom(path, info);
}

bool isSettled(const FileIdentity& file) {
  constexpr std::int64_t kSettledNs = 5'000'000'000;
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return file.changedNs + kSettledNs <= std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}

Status checkUnchanged(std::span<const FileIdentity> files) {
  for (const FileIdentity& known : files) {
    const auto now = identityOf(known.path);
    if (now.ok() && now.value() == known) continue;
    const bool cut = now.ok() && sameFile(now.value(), known) && now.value().bytes < known.bytes;
    return cut ? shorter(known.path) : changed(known.path);
  }
  return Done{};
}

MappedFile::MappedFile(FileIdentity identity, std::span<const std::byte> bytes)
    : m_identity(std::move(identity)), m_bytes(bytes) {
  if (!bytes.empty()) m_guard = std::make_unique<GuardedMemory>(bytes);
}

Result<std::shared_ptr<const MappedFile>> MappedFile::open(const std::filesystem::path& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.number() < 0) return systemError(path, "cannot open");
  struct stat info {};
  if (::fstat(file.number(), &info) != 0) return systemError(path, "cannot read its size");
  if (!S_ISREG(info.st_mode)) return Diagnostic{.message = "is not a regular file", .where = {.file = path.string()}};
  FileIdentity identity = identityFrom(path, info);
  if (auto known = openFiles().find(identity)) return known;
  const auto size = static_cast<std::size_t>(info.st_size);
  std::span<const std::byte> bytes;
  if (size > 0) bytes = TRY(mapped(file, path, size));
  const std::shared_ptr<const MappedFile> opened(new MappedFile(std::move(identity), bytes));
  openFiles().add(opened);
  return opened;
}

MappedFile::~MappedFile() {
  m_guard.reset();  // before other threads can map memory here
  if (!m_bytes.empty()) ::munmap(const_cast<std::byte*>(m_bytes.data()), m_bytes.size());
}

void MappedFile::release(std::span<const std::byte> part) const {
  advise(part, MADV_DONTNEED);
}

void MappedFile::adviseRandomAccess(std::span<const std::byte> part) const {
  advise(part, MADV_RANDOM);
}

/// Advises the system about the whole pages in `part`.
void MappedFile::advise(std::span<const std::byte> part, int advice) const {
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto begin = (reinterpret_cast<std::uintptr_t>(part.data()) + page - 1) / page * page;
  const auto end = reinterpret_cast<std::uintptr_t>(part.data() + part.size()) / page * page;
  if (begin < end) ::madvise(reinterpret_cast<void*>(begin), end - begin, advice);
}

Status MappedFile::checkIntact() const {
  if (damaged()) return shorter(m_identity.path);
  struct stat now {};
  const bool isThere = ::stat(m_identity.path.c_str(), &now) == 0;
  if (!isThere || now.st_dev != m_identity.device || now.st_ino != m_identity.inode)
    return Done{};  // the mapping keeps the old content
  if (now.st_size < m_identity.bytes) return shorter(m_identity.path);
  if (nanoseconds(now.st_mtim) != m_identity.modifiedNs) return changed(m_identity.path);
  return Done{};
}

Status checkIntact(const MappedFiles& files) {
  for (const auto& file : files) TRY(file->checkIntact());
  return Done{};
}

Status checkCurrent(const MappedFiles& files) {
  TRY(checkIntact(files));
  return checkUnchanged(identitiesOf(files));
}

std::vector<FileIdentity> identitiesOf(const MappedFiles& files) {
  std::vector<FileIdentity> identities;
  for (const auto& file : files) identities.push_back(file->identity());
  return identities;
}

}  // namespace fusescope
