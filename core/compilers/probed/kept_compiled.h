#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "cache/kept_store.h"
#include "compilers/probed/kept_entry.h"

namespace fusescope {

/// The value of KeptFacts::kind for compiled networks in the form in which their compiler saves them: an engine of
/// TensorRT, a blob of OpenVINO, an optimised network of ONNX Runtime.
inline constexpr const char* kCompiledKind = "compiled";

/// Returns the key of the compiled network of the compilation whose answer has the key `compile`.
std::string compiledKey(const Json& compile);
/// Returns why an entry of this kind contains no network; empty: it contains one.
std::string whyGivenUp(std::string_view entry);

/// What happened to a compiled network that the store has, or was to get.
struct CompiledNews {
  enum class Event { None, Loaded, LoadedTooSlowly, NotLoaded, Saved } event = Event::None;
  Kept kept{};             ///< without bytes: when and where it was found
  double loadMs = 0;       ///< from looking for it until it could run, in milliseconds
  double compileMs = 0;    ///< how long compiling took when it was kept
  std::int64_t bytes = 0;  ///< of its files
  std::string problem{};   ///< NotLoaded: why
};

/// The compiled network of one compilation, in the store. It is loaded instead of compiled only by a process that is
/// to run it. Where loading turns out to be slower than compiling, or is refused, an entry without files takes its
/// place, so that nobody saves it again. One caller at a time.
class KeptCompiled {
 public:
  /// `compile` is the key of the answer to the compilation. `about` is for people.
  KeptCompiled(KeptStore& store, const Json& compile, std::string about);

  /// Lets the process `job` load the network, if it is kept, instead of compiling it. `asked` is the compilation.
  /// Returns whether it did. Errors: cancelled.
  Result<bool> loadInto(ProbeJob& job, const ProbeRequest& asked, const StopToken& stop, const Progress& progress);

  /// Keeps what the process has compiled, if `compileMs` milliseconds are long compared with what loading is expected
  /// to take on this machine, and if the compiler can save it. Returns whether it was kept. Errors: cancelled.
  Result<bool> saveFrom(ProbeJob& job, const ProbeRequest& asked, double compileMs, const StopToken& stop,
                        const Progress& progress);

  /// Returns what happened last.
  const CompiledNews& news() const { return m_news; }
  /// Returns the folder with the files that a process has loaded; null: none was loaded. The process may read them
  /// again, for example to profile the network, as long as it holds it.
  std::shared_ptr<const TemporaryFolder> loaded() const { return m_loaded; }

 private:
  void giveUp(double compileMs, const std::string& why);

  KeptStore& m_store;
  std::string m_key, m_about;
  bool m_isGivenUp = false;  ///< an entry says that it is not worth keeping
  CompiledNews m_news;
  std::shared_ptr<const TemporaryFolder> m_loaded;
};

}  // namespace fusescope
