#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/temporary_folder.h"
#include "cache/kept_store.h"
#include "compilers/probed/kept_compiled.h"
#include "probe/probe_job.h"

namespace fusescope {

/// Everything besides the question that the answer of a compiler depends on, and that keys contain.
struct AnswerContext {
  std::string about;     ///< text for people: "tensorrt-rtx 1.7.1.116, bert.onnx"
  std::string compiler;  ///< its name
  std::string version;
  Json environment;  ///< see environmentFields()
  Json opened;       ///< the compiler's answer when it was opened
  /// Returns the hashes of its code: CodeHashes::wait().
  std::function<Json(std::chrono::milliseconds most, const StopToken& stop)> code;
  /// Starts a process that imports the compiler.
  std::function<Result<std::unique_ptr<ProbeJob>>(const StopToken& stop)> start;
  /// Returns whether `environment` is still true, so that an answer that was given meanwhile may be kept with it.
  std::function<bool()> isWitnessValid;
};

/// The value of KeptFacts::kind for answers.
inline constexpr const char* kAnswerKind = "answer";

/// A field of a request on which the answer does not depend: the number of threads with which the network is compiled
/// next.
inline constexpr const char* kNextThreads = "next_threads";

/// Returns whether answers to `op` are kept. These are the answers that say what a compiler makes of a network, never
/// those of operations that measure or run.
bool isKeptOp(std::string_view op);

/// The parts of a key that come from the environment and from earlier questions.
struct KeyParts {
  Json code;   ///< AnswerContext::code
  Json after;  ///< the hash of the key of what was compiled before; null: nothing was
};

/// Returns the key of an answer, field by field: op, compiler, version, the network and other files by their SHA-256,
/// the request, the environment with the hashes of its code, the probe, and what was compiled before. `store` caches
/// hashes of files. Errors: a file cannot be read; cancelled.
Result<Json> answerKey(KeptStore& store, const AnswerContext& context, const ProbeRequest& request,
                       const KeyParts& parts, const StopToken& stop);
/// Returns the keys whose answers serve the question of `key`, itself first: what was compiled so that inner values can
/// be asked for is the same network, and the answer says the same of it.
std::vector<Json> keysServing(const Json& key);
/// Returns the hashes of the parts of the network that the answer in the bytes of an entry is about (networkDigests());
/// null if an earlier version kept it.
Json digestsKeptWith(std::string_view bytes);

/// A job whose answers are looked up in the store. If an answer is missing, a process is started, which first compiles
/// the network that the found answers were about, so that all answers are about the same compiled network. If the
/// hashes of the compiler's code are not known soon after it was opened, the compiler is asked without looking, and the
/// answers are kept when the hashes are known, at the latest when the job ends. It may be used by one caller at a time.
class KeptJob final : public ProbeJob {
 public:
  KeptJob(KeptStore& store, AnswerContext context) : m_store(store), m_context(std::move(context)) {}
  ~KeptJob() override;

  /// Returns the answer to a `compile`, after which the process holds the network, so that it can run. Either the
  /// answer was kept together with the compiled network, which the process loaded, or the process compiled it, and what
  /// it compiled is kept if that is worth it. Errors: those of the compiler; cancelled.
  Result<ProbeAnswer> askToHold(const ProbeRequest& request, const StopToken& stop, const Progress& progress = {});

  const Json& opened() const override { return m_context.opened; }
  Result<ProbeAnswer> ask(const ProbeRequest& request, const StopToken& stop, const Progress& progress = {}) override;
  Result<Json> evaluated(const std::vector<ProbeRequest>& questions, const AnswerEvaluation& evaluation,
                         const StopToken& stop) override;
  bool isLocal() const override { return m_live != nullptr && m_live->isLocal(); }
  /// Returns true also if no process was needed so far.
  bool isThere() const override { return m_live == nullptr || m_live->isThere(); }

  /// Returns the entry with the answer to the last `compile`; nothing if the compiler was asked.
  const std::optional<Kept>& found() const { return m_found; }
  /// Returns what happened to the compiled network, beside the answer.
  CompiledNews compiledNews() const { return m_compiled ? m_compiled->news() : CompiledNews{}; }
  KeptStore& store() const { return m_store; }
  /// Returns KeptCompiled::loaded(), which whoever takes the process keeps as long as it.
  std::shared_ptr<const TemporaryFolder> loaded() const { return m_compiled ? m_compiled->loaded() : nullptr; }
  /// Moves out of this object the folders with the files of kept answers, which exist as long as their folders.
  std::vector<TemporaryFolder> takeFolders() { return std::move(m_folders); }
  /// Moves the process out of this object; null if there is none.
  std::unique_ptr<ProbeJob> takeLive() { return std::move(m_live); }

 private:
  /// An answer that is kept as soon as the hashes of the code are known.
  struct Waiting {
    Json key;                          ///< without the code and without what was compiled before
    std::optional<std::string> bytes;  ///< nothing: only what is compiled later depends on the question
    double ms;
  };
  /// A live answer, and how long it took with the start of the compiler, if it was started for it.
  struct Asked {
    ProbeAnswer answer;
    double ms = 0;
    double answerMs = 0;  ///< of these, how long the answer alone took
  };
  Result<Json> keyOf(const ProbeRequest& request, const StopToken& stop);
  Result<Json> keyOf(const std::vector<ProbeRequest>& questions, const std::string& what, const StopToken& stop);
  Result<Asked> askedAndKept(const ProbeRequest& request, const Json& key, const StopToken& stop,
                             const Progress& progress);
  Result<bool> load(const ProbeRequest& request, const Json& key, const StopToken& stop, const Progress& progress);
  Result<bool> save(const ProbeRequest& request, const Json& key, const Asked& compiled, const StopToken& stop,
                    const Progress& progress);
  Status start(const StopToken& stop);
  void forgetFound();
  Result<Asked> asked(const ProbeRequest& request, const StopToken& stop, const Progress& progress);
  Result<ProbeAnswer> restored(const Kept& kept);
  std::optional<ProbeAnswer> found(const ProbeRequest& request, const Json& key);
  Json complete(Json key) const;
  bool knowsCode(std::chrono::milliseconds most, const StopToken& stop);
  void keepNowOrLater(const Json& key, bool isCodeKnown, std::optional<std::string> bytes, double ms);
  void keep(const Json& key, std::string_view bytes, double ms);

  KeptStore& m_store;
  AnswerContext m_context;
  std::unique_ptr<ProbeJob> m_live;
  /// requests whose kept answers were used, so that the live process has not received them
  std::vector<ProbeRequest> m_notAsked;
  Json m_after;                    ///< the hash of the key of the last compilation
  Json m_code;                     ///< null if it is not known yet
  std::vector<Waiting> m_waiting;  ///< in the order in which the answers arrived
  std::optional<Kept> m_found;
  std::optional<KeptCompiled> m_compiled;
  bool m_namesFile = false;  ///< whether the last compilation depends on a file that is not part of its key
  std::vector<TemporaryFolder> m_folders;  ///< contain the files of answers
};

}  // namespace fusescope
