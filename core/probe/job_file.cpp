#include "probe/job_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "base/files.h"
#include "base/json_fields.h"
#include "base/user_json.h"
#include "base/zip_archive.h"
#include "probe/answer_folder.h"
#include "probe/file_names.h"
#include "probe/file_transfer.h"
#include "probe/job_events.h"
#include "probe/probe_archive.h"

namespace fusescope {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kJobFormat = "fusescope-probe-job", kResultFormat = "fusescope-probe-result";
constexpr int kJobVersion = 1;
constexpr std::uint64_t kMostJson = std::uint64_t{256} << 20;
constexpr std::uint64_t kMostFileBytes = std::uint64_t{64} << 30;

Diagnostic located(Diagnostic error, const fs::path& path) {
  if (error.where.file.empty()) error.where.file = path.string();
  return error;
}

/// Returns a request as it is stored in a job file and in its result: {json, files[{name, size, sha256}]}.
Result<Json> describedRequest(const ProbeRequest& request, const StopToken& stop) {
  return Json{{"json", request.json}, {"files", TRY(describedFiles(request, false, stop))}};
}

/// Returns a request without the fields that may differ between a job and its result: how long something is measured,
/// and with how many threads.
Json comparable(Json json) {
  if (!json.is_object()) return json;
  for (const char* measured : {"seconds", "warmup_seconds", "runs"}) json.erase(measured);
  if (const auto options = json.find("options"); options != json.end() && options->is_object())
    options->erase("threads");
  return json;
}

/// One answer in the result of a job file.
struct Recorded {
  Json request;
  Json event;                          ///< the event, which is answer, error or ended
  std::vector<std::size_t> positions;  ///< the positions of the answer's files in the archive
  bool wasGiven = false;

  const Json& json() const { return request.at("json"); }
  const Json& files() const { return request.at("files"); }
};

/// Answers requests from the result of a job file.
class RecordedJob final : public ProbeJob {
 public:
  RecordedJob(fs::path path, ZipReader archive, std::string compiler, std::vector<Recorded> answers)
      : m_path(std::move(path)),
        m_archive(std::move(archive)),
        m_compiler(std::move(compiler)),
        m_answers(std::move(answers)) {}

  Status open() {
    m_opened = TRY(ask({.json = {{"op", "open"}}, .files = {}}, {}, {})).json;
    return Done{};
  }
  const Json& opened() const override { return m_opened; }
  bool isThere() const override { return true; }

  Result<ProbeAnswer> ask(const ProbeRequest& request, const StopToken& stop, const Progress&) override {
    const Json wanted = TRY(describedRequest(request, stop));
    const Json question = comparable(wanted["json"]);
    Recorded* found = nullptr;
    for (Recorded& answer : m_answers)
      if (comparable(answer.json()) == question && answer.files() == wanted["files"] &&
          (found == nullptr || (found->wasGiven && !answer.wasGiven)))
        found = &answer;
    const std::string op = textOf(request.json, "op");
    if (found == nullptr) return located(noAnswer(op, wanted["files"]), m_path);
    found->wasGiven = true;
    const std::string event = textOf(found->event, "event");
    if (event == "error") return refusalFrom(found->event);
    if (event == "ended") return endFrom(found->event, m_compiler, m_path.string(), op);
    ProbeAnswer answer{.json = found->event.value("json", Json()), .files = {}};
    if (!answer.json.is_object())
      return Diagnostic{.message = "an answer is not an object", .where = {.file = m_path.string()}};
    auto files = unpacked(*found, request.folder, stop);
    if (!files.ok()) return located(files.error(), m_path);
    answer.files = std::move(files).value();
    return answer;
  }

 private:
  /// Returns the error for a request without an answer. It says what differs from the requests in the job.
  Diagnostic noAnswer(const std::string& op, const Json& files) const {
    const auto isOfOp = [&](const Recorded& answer) { return textOf(answer.json(), "op") == op; };
    if (std::ranges::none_of(m_answers, isOfOp))
      return {.message =
                  fmt::format("this result has no answer to \"{}\", because the job did not contain this question", op),
              .help = "Pack the job again with this question."};
    const auto hasFiles = [&](const Recorded& answer) { return isOfOp(answer) && answer.files() == files; };
    if (std::ranges::none_of(m_answers, hasFiles))
      return {.message = fmt::format("this result has no answer to \"{}\" for these files, because it belongs to a job "
                                     "with another network or other inputs",
                                     op),
              .help = "Open it with the network and the inputs with which the job was packed."};
    return {
        .message = fmt::format(
            "this result has no answer to \"{}\" with these options, because it belongs to another job", op),
        .help = "Open it with the options with which the job was packed, or pack the job again with these options."};
  }

  Result<std::map<std::string, fs::path>> unpacked(const Recorded& answer, fs::path folder, const StopToken& stop) {
    const Json files = answer.event.value("files", Json::array());
    if (folder.empty() && !files.empty()) {
      if (!m_folder) m_folder.emplace(TRY(answerFolder()));
      folder = m_folder->path() / std::to_string(m_unpacked++);
    }
    FileReceiver receiver = TRY(FileReceiver::forAnswer(files, folder));
    for (std::size_t i = 0; i < files.size(); ++i) {
      std::uint64_t at = 0;
      TRY(m_archive.read(answer.positions[i], [&](std::span<const std::byte> piece) -> Status {
        TRY(checkStop(stop));
        const Frame frame{.header = {{"event", "piece"}, {"file", i}, {"at", at}},
                          .payload = std::string(reinterpret_cast<const char*>(piece.data()), piece.size())};
        at += piece.size();
        return receiver.take(frame);
      }));
      TRY(receiver.take({.header = {{"event", "file"}, {"file", i}, {"sha256", textOf(files[i], "sha256")}}}));
    }
    return receiver.files();
  }

  const fs::path m_path;
  const ZipReader m_archive;
  const std::string m_compiler;
  std::vector<Recorded> m_answers;
  std::optional<TemporaryFolder> m_folder;
  std::size_t m_unpacked = 0;
  Json m_opened;
};

using Positions = std::map<std::string, std::size_t>;

Result<Recorded> recordedFrom(const Json& json, const ZipReader& archive, const Positions& positions) {
  const Json request = json.is_object() ? json.value("request", Json()) : Json();
  if (!request.is_object() || !request.contains("json") || !request.contains("files"))
    return Diagnostic{.message = "an answer has no request"};
  Recorded answer{.request = json["request"], .event = json, .positions = {}};
  const Json files = json.value("files", Json::array());
  if (!files.is_array()) return Diagnostic{.message = "the files of an answer are not a list"};
  for (const Json& file : files) {
    const std::string entry = file.is_object() ? textOf(file, "entry") : std::string();
    const auto position = positions.find(entry);
    if (position == positions.end() || !isSafeFileName(textOf(file, "name")))
      return Diagnostic{.message =
                            fmt::format("an answer has a file that does not exist or is not allowed: \"{}\"", entry)};
    if (archive.entries()[position->second].bytes != countOf(file, "size"))
      return Diagnostic{.message = fmt::format("\"{}\" does not have the expected size", entry)};
    answer.positions.push_back(position->second);
  }
  return answer;
}

/// A probe does not compress files. If the contents of an archive are larger than the archive, it was not made by a
/// probe.
Status checkUnpackedSize(const ZipReader& archive) {
  std::uint64_t bytes = 0;
  for (const ZipReader::Entry& entry : archive.entries())
    if (__builtin_add_overflow(bytes, entry.bytes, &bytes) || bytes > archive.fileBytes())
      return Diagnostic{.message = fmt::format("this archive of {} bytes contains more than that when it is unpacked, "
                                               "which no result of a job does",
                                               archive.fileBytes())};
  return Done{};
}

Result<JobResult> resultIn(const fs::path& path, std::string_view job) {
  ZipReader archive = TRY(ZipReader::open(path));
  TRY(checkUnpackedSize(archive));
  Positions positions;
  for (std::size_t i = 0; i < archive.entries().size(); ++i) positions.emplace(archive.entries()[i].name, i);
  const auto head = positions.find("result.json");
  if (head == positions.end())
    return Diagnostic{.message = "this is not the result of a job, because it has no result.json"};
  const auto bytes = TRY(archive.bytes(head->second, kMostJson));
  const Json json = TRY(parseUserJson({reinterpret_cast<const char*>(bytes.data()), bytes.size()}));
  TRY(checkFormat(json, "a result of a job", kResultFormat, kJobVersion));
  if (json["version"] != kJobVersion || textOf(json, "probe") != probeVersion())
    return Diagnostic{.message = "this result was made by the probe of another version of Fusescope",
                      .help = "Pack the job again with this version, and run it again."};
  JobResult result{.job = textOf(json, "job"),
                   .compiler = textOf(json, "compiler"),
                   .hello = json.value("hello", Json()),
                   .finished = textOf(json, "finished"),
                   .asked = json.value("asked", Json()),
                   .ops = {},
                   .probe = {}};
  if (!job.empty() && result.job != job)
    return Diagnostic{.message = "this is the result of another job",
                      .help = "Open the result that was written next to the file of this job."};
  std::vector<Recorded> answers;
  JsonFields fields(json);
  fields.require("answers").parseList("answers", answers,
                                      [&](const Json& entry) { return recordedFrom(entry, archive, positions); });
  if (fields.error()) return *fields.error();
  for (const Recorded& answer : answers) result.ops.insert(textOf(answer.json(), "op"));
  auto recorded = std::make_unique<RecordedJob>(path, std::move(archive), result.compiler, std::move(answers));
  TRY(recorded->open());
  result.probe = std::move(recorded);
  return result;
}

}  // namespace

Result<std::string> packJob(std::string_view compiler, const std::vector<ProbeRequest>& requests, const fs::path& path,
                            const StopToken& stop, const ProbeOptions& options, const Json& asked) {
  Json job{{"format", kJobFormat}, {"version", kJobVersion}, {"compiler", compiler}, {"probe", probeVersion()}};
  if (options.memoryBytes) job["memory"] = *options.memoryBytes;
  if (!asked.is_null()) job["asked"] = asked;
  job["requests"] = Json::array({TRY(describedRequest({.json = {{"op", "open"}}, .files = {}}, stop))});
  std::map<std::string, fs::path> blobs;
  for (const ProbeRequest& request : requests) {
    Json described = TRY(describedRequest(request, stop));
    for (const Json& file : described["files"])
      blobs.emplace(textOf(file, "sha256"), request.files.at(textOf(file, "name")));
    job["requests"].push_back(std::move(described));
  }
  const std::string text = job.dump(-1, ' ', false, Json::error_handler_t::replace);
  TRY(writeFileAtomically(path, [&](const fs::path& temporary) -> Status {
    TRY(writeFileAtomically(temporary, probeArchive()));
    ZipWriter archive = TRY(ZipWriter::at(temporary, true));
    TRY(archive.add("job.json", std::string_view(text)));
    for (const auto& [sha256, file] : blobs) TRY(archive.add("blobs/" + sha256, file));
    return archive.finish();
  }));
  return sha256OfText(text);
}

Result<JobResult> openJobResult(const fs::path& path, std::string_view job) {
  auto result = resultIn(path, job);
  if (!result.ok()) return located(result.error(), path);
  return result;
}

}  // namespace fusescope
