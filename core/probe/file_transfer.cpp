#include "probe/file_transfer.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/deferred_file.h"
#include "probe/file_names.h"

namespace fusescope {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t kPiece = std::uint64_t{64} << 10;
constexpr std::uint64_t kLeastWindow = kPiece, kMostWindow = std::uint64_t{16} << 20;
constexpr std::uint64_t kMostAnswerBytes = std::uint64_t{64} << 30;

Diagnostic fileError(std::string message, const std::filesystem::path& path) {
  return {.message = std::move(message), .where = {.file = path.string()}};
}

Result<Json> describedFile(const std::string& name, const std::filesystem::path& path, bool isLocal,
                           const StopToken& stop) {
  if (!isSafeFileName(name))
    return fileError(fmt::format("\"{}\" is not a valid name for a file of a request", name), path);
  TRY(writeDeferred(path));
  std::error_code failed;
  const std::filesystem::path whole = std::filesystem::absolute(path, failed);
  struct stat here {};
  if (failed || ::stat(whole.c_str(), &here) != 0) return fileError("there is no such file", path);
  if (!S_ISREG(here.st_mode)) return fileError("is not a regular file", path);
  Json file{{"name", name}, {"size", here.st_size}};
  if (isLocal) {
    file["path"] = whole.string();
    file["identity"] = {here.st_dev, here.st_ino, here.st_size,
                        std::int64_t{here.st_mtim.tv_sec} * 1'000'000'000 + here.st_mtim.tv_nsec};
  } else {
    file["sha256"] = TRY(sha256OfFile(whole, stop));
  }
  return file;
}

}  // namespace

Result<Json> describedFiles(const ProbeRequest& request, bool isLocal, const StopToken& stop) {
  Json files = Json::array();
  for (const auto& [name, path] : request.files) files.push_back(TRY(describedFile(name, path, isLocal, stop)));
  return files;
}

Status FileSender::add(const std::string& sha256, const ProbeRequest& request, const Json& described) {
  for (const Json& file : described) {
    if (textOf(file, "sha256") != sha256) continue;
    const std::filesystem::path& path = request.files.at(textOf(file, "name"));
    Descriptor descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!descriptor.isOpen()) return fileError(fmt::format("cannot be read: {}", std::strerror(errno)), path);
    const auto size = countOf(file, "size");
    if (size > 0)
      m_files.push_back({.sha256 = sha256, .path = path, .size = size, .descriptor = std::move(descriptor)});
    return Done{};
  }
  return Diagnostic{.message = "the probe asks for a file that is not part of the request"};
}

Status FileSender::sendOn() {
  while (!m_files.empty()) {
    File& file = m_files.front();
    if (file.sent == file.size || file.sent - file.acknowledged >= m_window) return Done{};
    std::string piece(std::min(kPiece, file.size - file.sent), '\0');
    const ssize_t got = ::pread(file.descriptor.number(), piece.data(), piece.size(), static_cast<off_t>(file.sent));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return fileError("became shorter while it was sent", file.path);
    piece.resize(static_cast<std::size_t>(got));
    m_listener.send({{"op", "piece"}, {"job", m_job}, {"sha256", file.sha256}, {"at", file.sent}}, piece);
    file.sent += piece.size();
    m_onTheWay.push_back({.end = file.sent, .since = Clock::now()});
  }
  return Done{};
}

void FileSender::acknowledged(std::uint64_t at) {
  if (m_files.empty()) return;
  File& file = m_files.front();
  file.acknowledged = std::clamp(at, file.acknowledged, file.sent);
  while (!m_onTheWay.empty() && m_onTheWay.front().end <= file.acknowledged) {
    const auto took = Clock::now() - m_onTheWay.front().since;
    m_onTheWay.pop_front();
    if (took < 250ms) m_window = std::min(kMostWindow, m_window + m_window / 8);
    if (took > 500ms) m_window = std::max(kLeastWindow, m_window - m_window / 8);
  }
  if (file.acknowledged < file.size) return;
  m_files.pop_front();
  m_onTheWay.clear();
}

Result<FileReceiver> FileReceiver::forAnswer(const Json& files, const std::filesystem::path& folder) {
  FileReceiver receiver;
  std::uint64_t bytes = 0;
  for (const Json& file : files) {
    const std::string name = file.is_object() ? textOf(file, "name") : std::string();
    if (!isSafeFileName(name))
      return Diagnostic{.message =
                            fmt::format("the probe's answer has a file whose name is not allowed: \"{}\"", name)};
    const std::uint64_t size = countOf(file, "size");
    bytes += std::min(size, kMostAnswerBytes);
    if (bytes > kMostAnswerBytes) return Diagnostic{.message = "the probe's answer is too large"};
    receiver.m_files.push_back({.name = name, .path = folder / name, .size = size});
  }
  return receiver;
}

Status FileReceiver::take(const Frame& frame) {
  if (isDone() || countOf(frame.header, "file") != m_next)
    return Diagnostic{.message = "the probe sends a file that it did not announce"};
  const File& file = m_files[m_next];
  if (!m_descriptor.isOpen()) {
    std::error_code ignored;
    std::filesystem::create_directories(file.path.parent_path(), ignored);
    m_descriptor = Descriptor(::open(file.path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!m_descriptor.isOpen()) return fileError(fmt::format("cannot be written: {}", std::strerror(errno)), file.path);
  }
  if (textOf(frame.header, "event") == "file") {
    if (m_at != file.size || textOf(frame.header, "sha256") != m_hash.hex())
      return fileError("was damaged on its way from the probe", file.path);
    m_descriptor.close();
    m_hash = {};
    m_at = 0;
    ++m_next;
    return Done{};
  }
  if (countOf(frame.header, "at") != m_at || m_at + frame.payload.size() > file.size)
    return fileError("arrived from the probe in wrong pieces", file.path);
  for (std::string_view rest = frame.payload; !rest.empty();) {
    const ssize_t wrote = ::write(m_descriptor.number(), rest.data(), rest.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) return fileError(fmt::format("cannot be written: {}", std::strerror(errno)), file.path);
    rest.remove_prefix(static_cast<std::size_t>(wrote));
  }
  m_hash.add(frame.payload);
  m_at += frame.payload.size();
  m_received += frame.payload.size();
  return Done{};
}

std::map<std::string, std::filesystem::path> FileReceiver::files() const {
  std::map<std::string, std::filesystem::path> all;
  for (const File& file : m_files) all.emplace(file.name, file.path);
  return all;
}

}  // namespace fusescope
