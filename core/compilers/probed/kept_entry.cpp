#include "compilers/probed/kept_entry.h"

#include <array>
#include <filesystem>
#include <span>
#include <utility>
#include <vector>

#include "base/files.h"
#include "base/json_fields.h"
#include "probe/answer_folder.h"
#include "probe/file_names.h"

namespace fusescope {
namespace {

namespace fs = std::filesystem;

/// The most bytes of files that are kept with an answer.
constexpr std::uintmax_t kMostAnswer = std::uintmax_t{1} << 30;

struct AnswerFile {
  std::string name;
  std::uint64_t size = 0;
};

}  // namespace

std::string keyBytes(const Json& key) {
  return key.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::uintmax_t totalBytes(const std::map<std::string, fs::path>& files) {
  std::uintmax_t bytes = 0;
  for (const auto& [name, path] : files) {
    std::error_code gone;
    const std::uintmax_t size = fs::file_size(path, gone);
    if (!gone) bytes += size;
  }
  return bytes;
}

std::optional<std::string> entryOf(const ProbeAnswer& answer, const Json& more) {
  Json files = Json::array();
  std::string body;
  std::uintmax_t size = 0;
  for (const auto& [name, path] : answer.files) {
    std::error_code failed;
    size += fs::file_size(path, failed);
    if (failed || size > kMostAnswer) return std::nullopt;
    auto text = readTextFile(path);
    if (!text.ok()) return std::nullopt;
    files.push_back({{"name", name}, {"size", text.value().size()}});
    body += text.value();
  }
  Json head{{"json", answer.json}, {"files", std::move(files)}};
  if (more.is_object()) head.update(more);
  return head.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n" + body;
}

Json headOf(std::string_view entry) {
  Json head = Json::parse(entry.substr(0, entry.find('\n')), nullptr, false);
  return head.is_object() ? head : Json();
}

Result<RestoredAnswer> restoredAnswer(std::string_view entry) {
  const Diagnostic wrong{.message = "the cached entry is not an answer"};
  const std::size_t end = entry.find('\n');
  if (end == std::string_view::npos) return wrong;
  const Json head = headOf(entry);
  std::vector<AnswerFile> files;
  JsonFields fields(head);
  fields.require("json").require("files").parseList("files", files, [](const Json& json) {
    AnswerFile file;
    JsonFields of(json);
    of.require("name").read("name", file.name).require("size").read("size", file.size);
    return of.result(std::move(file));
  });
  if (fields.error()) return *fields.error();
  RestoredAnswer restored{.answer = {.json = head["json"], .files = {}}, .folder = TRY(answerFolder())};
  std::string_view body = entry.substr(end + 1);
  for (const AnswerFile& file : files) {
    if (!isSafeFileName(file.name) || file.size > body.size()) return wrong;
    const fs::path path = restored.folder / file.name;
    std::error_code failed;
    fs::create_directories(path.parent_path(), failed);
    const std::array pieces{std::as_bytes(std::span(body.data(), file.size))};
    TRY(writePiecesAtomically(path, pieces));
    restored.answer.files.emplace(file.name, path);
    body.remove_prefix(file.size);
  }
  if (!body.empty()) return wrong;
  return restored;
}

}  // namespace fusescope
