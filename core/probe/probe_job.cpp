#include "probe/probe_job.h"

#include <fmt/format.h>

#include <atomic>
#include <mutex>
#include <optional>
#include <utility>

#include "probe/answer_folder.h"
#include "probe/file_names.h"
#include "probe/file_transfer.h"
#include "probe/job_events.h"
#include "probe/listeners.h"
#include "probe/live_jobs.h"

namespace fusescope {
namespace {

namespace fs = std::filesystem;

/// A job of a listener that is running.
class LiveJob final : public ProbeJob {
 public:
  LiveJob(Environment environment, std::string compiler, std::shared_ptr<Listener> listener)
      : m_environment(std::move(environment)), m_compiler(std::move(compiler)), m_listener(std::move(listener)) {
    std::tie(m_number, m_mailbox) = m_listener->newJob();
    m_process = std::make_shared<LiveProcess>(this, m_listener, m_number, m_mailbox);
    addLiveProcess(m_process);
  }
  LiveJob(const LiveJob&) = delete;
  LiveJob& operator=(const LiveJob&) = delete;
  ~LiveJob() override {
    removeLiveProcess(this);
    end();
    m_listener->forget(m_number);
  }

  Status open(const ProbeOptions& options, const StopToken& stop) {
    Json start{{"op", "start"}, {"job", m_number}, {"compiler", m_compiler}, {"local", m_listener->isLocal()}};
    const auto memory = options.memoryBytes ? options.memoryBytes : m_environment.memoryBytes;
    if (memory) start["memory"] = *memory;
    if (m_environment.keepsFiles && !m_listener->isLocal()) start["keep"] = options.keptBytes;
    m_listener->send(start);
    m_patience = options.open;
    m_until = Mailbox::Clock::now() + m_patience;
    const auto answer = ask({.json = {{"op", "open"}}, .files = {}}, stop, {});
    m_until.reset();
    if (!answer.ok()) return answer.error();
    m_opened = answer.value().json;
    return Done{};
  }

  const Json& opened() const override { return m_opened; }
  bool isLocal() const override { return m_listener->isLocal(); }
  bool isThere() const override { return !m_ended && m_listener->isThere(); }

  Result<ProbeAnswer> ask(const ProbeRequest& request, const StopToken& stop, const Progress& progress) override {
    TRY(checkStop(stop));
    const std::scoped_lock use(m_process->use());
    if (m_ended)
      return Diagnostic{
          .message = fmt::format("the process of {} in \"{}\" has ended already", m_compiler, m_environment.command)};
    ++m_request;
    auto answer = asked(request, m_listener->isLocal() && !m_sendsFiles, stop, progress);
    if (answer.ok()) {
      if (auto value = std::move(answer).value()) return std::move(*value);
      // Although the folders are shared, this file is a different one there, as may happen in a container. The files
      // are therefore sent.
      m_sendsFiles = true;
      ++m_request;
      answer = asked(request, false, stop, progress);
      if (answer.ok()) {
        if (auto value = std::move(answer).value()) return std::move(*value);
        return Diagnostic{.message = "the probe does not accept the files of this request"};
      }
    }
    if (answer.error().cancelled || !m_listener->isThere()) end();
    return answer.error();
  }

 private:
  /// Sends one request and waits for its answer. Returns nothing if the probe does not see the same files.
  Result<std::optional<ProbeAnswer>> asked(const ProbeRequest& request, bool byPath, const StopToken& stop,
                                           const Progress& progress) {
    const Json files = TRY(describedFiles(request, byPath, stop));
    m_listener->send(
        {{"op", "ask"}, {"job", m_number}, {"id", m_request}, {"request", request.json}, {"files", files}});
    FileSender sender(*m_listener, m_number);
    for (;;) {
      std::optional<Frame> frame = TRY(m_mailbox->take(stop, m_until));
      if (!frame) return tookTooLong(request);
      const Json& header = frame->header;
      const std::string event = textOf(header, "event");
      if (event == "ended") return endedBy(header, request);
      if (event == "progress" && progress) progress(textOf(header, "phase"), textOf(header, "detail"));
      if (event == "got") sender.acknowledged(countOf(header, "at"));
      const auto id = header.find("id");
      // An answer to an earlier request, which failed, is skipped.
      if (id != header.end() && id->is_number() && countOf(header, "id") != m_request) continue;
      if (event == "need") TRY(orEnd(need(sender, header, request, files)));
      if (event == "got" || event == "need") TRY(orEnd(sender.sendOn()));
      if (event == "error") {
        if (textOf(header, "kind") == "not_shared") return std::optional<ProbeAnswer>{};
        return refusalFrom(header);
      }
      if (event == "answer") return std::optional<ProbeAnswer>(TRY(answered(*frame, request, stop)));
    }
  }

  /// Ends the job if `result` is an error: if a file was not transferred completely in either direction, the job would
  /// wait for the rest.
  template <class T>
  Result<T> orEnd(Result<T> result) {
    if (!result.ok()) end();
    return result;
  }

  static Status need(FileSender& sender, const Json& header, const ProbeRequest& request, const Json& files) {
    const auto wanted = header.find("sha256");
    if (wanted == header.end() || !wanted->is_array()) return Done{};
    for (const Json& sha256 : *wanted)
      TRY(sender.add(sha256.is_string() ? sha256.get<std::string>() : std::string(), request, files));
    return Done{};
  }

  Result<ProbeAnswer> answered(Frame& frame, const ProbeRequest& request, const StopToken& stop) {
    ProbeAnswer answer;
    if (const auto json = frame.header.find("json"); json != frame.header.end()) answer.json = std::move(*json);
    const Json files = frame.header.value("files", Json::array());
    if (!answer.json.is_object() || !files.is_array())
      return Diagnostic{.message = "the probe's answer is not an object"};
    if (m_listener->isLocal()) {
      answer.files = TRY(localFiles(files, request.folder));
    } else if (!files.empty()) {
      answer.files = TRY(orEnd(receivedFiles(files, request, stop)));
    }
    return answer;
  }

  Result<std::map<std::string, fs::path>> receivedFiles(const Json& files, const ProbeRequest& request,
                                                        const StopToken& stop) {
    fs::path folder = request.folder;
    if (folder.empty()) folder = TRY(ownFolder());
    FileReceiver receiver = TRY(FileReceiver::forAnswer(files, folder));
    while (!receiver.isDone()) {
      const auto frame = TRY(m_mailbox->take(stop));
      const std::string event = textOf(frame->header, "event");
      if (event == "ended") return endedBy(frame->header, request);
      if (event != "piece" && event != "file") continue;
      TRY(receiver.take(*frame));
      m_got += frame->payload.size();
      if (!frame->payload.empty()) m_listener->send({{"op", "got"}, {"job", m_number}, {"at", m_got}});
    }
    return receiver.files();
  }

  Result<fs::path> ownFolder() {
    if (!m_folder) m_folder.emplace(TRY(answerFolder()));
    const fs::path folder = m_folder->path() / std::to_string(m_request);
    std::error_code failed;
    fs::create_directories(folder, failed);
    if (failed)
      return Diagnostic{.message = "cannot be created: " + failed.message(), .where = {.file = folder.string()}};
    return folder;
  }

  /// Returns the files of an answer that are in the probe's folder on this machine. They remain there, or are moved to
  /// the caller's folder.
  Result<std::map<std::string, fs::path>> localFiles(const Json& files, const fs::path& folder) const {
    const FileReceiver names = TRY(FileReceiver::forAnswer(files, folder));
    std::map<std::string, fs::path> found = names.files();
    for (const Json& file : files) {
      const fs::path path = textOf(file, "path");
      const fs::path inside = path.lexically_relative(m_listener->folder());
      std::error_code failed;
      if (!isSafeFileName(inside.generic_string()) || !fs::is_regular_file(fs::symlink_status(path, failed)))
        return Diagnostic{.message = "the probe names a file that is not in its folder",
                          .where = {.file = path.string()}};
      fs::path& target = found[textOf(file, "name")];
      if (folder.empty()) {
        target = path;
        continue;
      }
      fs::create_directories(target.parent_path(), failed);
      fs::rename(path, target, failed);
      if (failed) fs::copy_file(path, target, fs::copy_options::overwrite_existing, failed);
      if (failed)
        return Diagnostic{.message = "cannot be written: " + failed.message(), .where = {.file = target.string()}};
    }
    return found;
  }

  void end() {
    if (!m_ended.exchange(true)) m_listener->send({{"op", "end"}, {"job", m_number}});
  }

  Diagnostic endedBy(const Json& event, const ProbeRequest& request) {
    m_ended = true;
    return endFrom(event, m_compiler, m_environment.command, textOf(request.json, "op"));
  }

  Diagnostic tookTooLong(const ProbeRequest& request) {
    end();
    return {.message = fmt::format("{} in \"{}\" did not answer \"{}\" in time, so its process was ended: its import "
                                   "took longer than {:.3g} s",
                                   m_compiler, m_environment.command, textOf(request.json, "op"),
                                   std::chrono::duration<double>(m_patience).count()),
            .help =
                "Start this Python yourself and import the package: then you see whether the import ends, and what "
                "it waits for, such as a folder on a network or a device. If it ends, try again: a second import "
                "is often faster."};
  }

  const Environment m_environment;
  const std::string m_compiler;
  const std::shared_ptr<Listener> m_listener;
  std::int64_t m_number = 0;
  std::shared_ptr<Mailbox> m_mailbox;
  std::shared_ptr<LiveProcess> m_process;
  std::uint64_t m_request = 0;
  std::uint64_t m_got = 0;  ///< bytes of files that were received with answers, for all requests
  std::optional<Mailbox::Clock::time_point> m_until;
  std::chrono::milliseconds m_patience{};  ///< the time between the beginning of the request and m_until
  std::optional<TemporaryFolder> m_folder;
  Json m_opened;
  bool m_sendsFiles = false;
  std::atomic<bool> m_ended = false;
};

}  // namespace

Result<std::unique_ptr<ProbeJob>> ProbeJob::start(const Environment& environment, std::string_view compiler,
                                                  const StopToken& stop, const ProbeOptions& options) {
  auto listener = TRY(listenerIn(environment, options, stop));
  auto job = std::make_unique<LiveJob>(environment, std::string(compiler), std::move(listener));
  TRY(job->open(options, stop));
  return std::unique_ptr<ProbeJob>(std::move(job));
}

Result<Json> ProbeJob::evaluated(const std::vector<ProbeRequest>& questions, const AnswerEvaluation& evaluation,
                                 const StopToken& stop) {
  for (const ProbeRequest& question : questions) TRY(evaluation.take(TRY(ask(question, stop))));
  return evaluation.result();
}

}  // namespace fusescope
