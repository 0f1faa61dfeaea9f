#include "engine/kernels/host_machine.h"

#include <array>
#include <ctime>

#include "backends/fingerprint.h"

namespace fusescope {

const std::string& hostMachine() {
  static const std::string text = hostFingerprint().text();
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
