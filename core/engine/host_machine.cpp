#include "engine/host_machine.h"

#include <unistd.h>

#include <array>
#include <cstring>
#include <ctime>

#include "base/text.h"
#include "target/target.h"
#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace fusescope {
namespace {

std::string cpuModel() {
  std::string model;
#if defined(__x86_64__)
  constexpr unsigned kFirstLeaf = 0x80000002U, kLastLeaf = 0x80000004U;  // 16 characters of the name each
  for (unsigned leaf = kFirstLeaf; leaf <= kLastLeaf; ++leaf) {
    std::array<unsigned, 4> words{};
    if (__get_cpuid(leaf, &words[0], &words[1], &words[2], &words[3]) == 0) break;
    std::array<char, sizeof words> characters{};
    std::memcpy(characters.data(), words.data(), sizeof words);
    model.append(characters.data(), ::strnlen(characters.data(), characters.size()));
  }
  // Virtual machines give several generations one name; the numbers tell them apart.
  std::array<unsigned, 4> words{};
  if (__get_cpuid(1, &words[0], &words[1], &words[2], &words[3]) != 0) model += " id " + std::to_string(words[0]);
#endif
  return model.empty() ? "unknown CPU" : model;
}

/// Bytes of the data caches; 0 or less where the system does not say.
std::string cacheSizes() {
  std::vector<std::string> sizes;
  for (const int level : {_SC_LEVEL1_DCACHE_SIZE, _SC_LEVEL2_CACHE_SIZE, _SC_LEVEL3_CACHE_SIZE})
    sizes.push_back(std::to_string(::sysconf(level)));
  return joined(sizes, "+");
}

std::string compiledBy() {
  std::string text = "compiler " __VERSION__;
#if defined(__OPTIMIZE__)
  text += ", optimised";
#endif
#if defined(NDEBUG)
  text += ", without asserts";
#endif
#if defined(__SANITIZE_ADDRESS__)
  text += ", AddressSanitizer";
#endif
#if defined(__SANITIZE_THREAD__)
  text += ", ThreadSanitizer";
#endif
  return text;
}

}  // namespace

const std::string& hostMachine() {
  static const std::string text = [] {
    const Capabilities capabilities = hostCapabilities();
    return cpuModel() + "; caches " + cacheSizes() + "; " + joined({capabilities.begin(), capabilities.end()}, "+") +
           "; " + compiledBy();
  }();
  return text;
}

std::string measurementDay() {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  ::localtime_r(&now, &local);
  std::array<char, 16> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%d", &local);
  return text.data();
}

}  // namespace fusescope
