#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/temporary_folder.h"
#include "cache/kept_store.h"
#include "probe/probe_job.h"

namespace fusescope {

/// What answers of a compiler are kept for, besides the questions themselves.
struct AnswerContext {
  std::string about;     ///< for people: "tensorrt-rtx 1.7.1.116, bert.onnx"
  std::string compiler;  ///< its name, and version
  std::string version;
  Json environment;  ///< environmentFields()
  Json opened;       ///< what it said when it was opened
  /// A process in which it is imported.
  std::function<Result<std::unique_ptr<ProbeJob>>(const StopToken& stop)> start;
  /// Whether `environment` still holds, so that what was answered meanwhile may be kept for it.
  std::function<bool()> holdsStill;
};

/// What KeptFacts::kind is of answers.
inline constexpr const char* kAnswerKind = "answer";

/// A field of a request that the answer does not depend on: with how many threads the network is compiled next.
inline constexpr const char* kNextThreads = "next_threads";

/// Whether answers to `op` are kept: those that say what a compiler makes of a network, never those that measure or
/// run.
bool isKeptOp(std::string_view op);

/// What an answer depends on, field by field: op, compiler, version, the network and other files by the SHA-256 of
/// their bytes, the request, the environment, the probe, and what was compiled before (`after`; null: nothing). Errors:
/// a file cannot be read; cancelled. `store` knows hashes of files.
Result<Json> answerKey(KeptStore& store, const AnswerContext& context, const ProbeRequest& request, const Json& after,
                       const StopToken& stop);
/// The bytes of a key.
std::string keyBytes(const Json& key);

/// A job whose answers are found again in the store. A process is started where an answer is not there, and compiles
/// what was found before that, so that it answers about the same network. For one caller at a time.
class KeptJob final : public ProbeJob {
 public:
  KeptJob(KeptStore& store, AnswerContext context) : m_store(store), m_context(std::move(context)) {}

  const Json& opened() const override { return m_context.opened; }
  Result<ProbeAnswer> ask(const ProbeRequest& request, const StopToken& stop, const Progress& progress = {}) override;
  bool isLocal() const override { return m_live != nullptr && m_live->isLocal(); }
  /// Also true where no process was needed yet.
  bool isThere() const override { return m_live == nullptr || m_live->isThere(); }

  /// Where the answer to the last `compile` was found; nothing: the compiler was asked.
  const std::optional<Kept>& found() const { return m_found; }
  KeptStore& store() const { return m_store; }
  /// The process, if there is one: who takes it has it.
  std::unique_ptr<ProbeJob> takeLive() { return std::move(m_live); }

 private:
  Result<ProbeAnswer> asked(const ProbeRequest& request, const Json& key, const StopToken& stop,
                            const Progress& progress);
  Result<ProbeAnswer> restored(const Kept& kept);
  void keep(const ProbeAnswer& answer, const Json& key, double ms);

  KeptStore& m_store;
  AnswerContext m_context;
  std::unique_ptr<ProbeJob> m_live;
  std::vector<ProbeRequest> m_notAsked;  ///< what was found, and the live process knows nothing of
  Json m_after;                          ///< the hash of the key of what was compiled last
  std::optional<Kept> m_found;
  bool m_namesFile = false;                ///< what was compiled last depends on a file that no key knows
  std::vector<TemporaryFolder> m_folders;  ///< of answers' files
};

}  // namespace fusescope
