#include "base/reread_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

namespace fusescope {

RereadFile::RereadFile(std::shared_ptr<const MappedFile> file)
    : m_file(std::move(file)), m_descriptor(::open(m_file->identity().path.c_str(), O_RDONLY | O_CLOEXEC)) {
  struct stat info {};
  m_isOpen = m_descriptor.number() >= 0 && ::fstat(m_descriptor.number(), &info) == 0 &&
             info.st_dev == m_file->identity().device && info.st_ino == m_file->identity().inode;
}

std::size_t RereadFile::read(std::span<const std::byte> bytes, std::span<std::byte> buffer) const {
  const ssize_t got = ::pread(m_descriptor.number(), buffer.data(), std::min(bytes.size(), buffer.size()),
                              static_cast<off_t>(bytes.data() - m_file->bytes().data()));
  return got > 0 ? static_cast<std::size_t>(got) : 0;
}

std::vector<RereadFile> reread(std::span<const std::shared_ptr<const MappedFile>> files) {
  std::vector<RereadFile> all;
  for (const auto& file : files) all.emplace_back(file);
  return all;
}

const RereadFile* holderOf(std::span<const std::byte> bytes, std::span<const RereadFile> files) {
  const auto found = std::ranges::find_if(files, [&](const RereadFile& file) { return file.holds(bytes); });
  return found == files.end() ? nullptr : &*found;
}

}  // namespace fusescope
