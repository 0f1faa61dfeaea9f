#include "base/untrusted_json.h"

#include "base/json.h"

namespace fusescope {
namespace {

constexpr int kDeepestJson = 512;

}  // namespace

bool isShallow(std::string_view json) {
  int depth = 0;
  bool inText = false;
  for (std::size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (inText) {
      if (c == '\\') ++i;
      inText = c != '"';
    } else if (c == '"') {
      inText = true;
    } else if (c == '[' || c == '{') {
      if (++depth > kDeepestJson) return false;
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return true;
}

Json untrustedJson(std::string_view text) {
  return isShallow(text) ? Json::parse(text, nullptr, false) : Json(Json::value_t::discarded);
}

}  // namespace fusescope
