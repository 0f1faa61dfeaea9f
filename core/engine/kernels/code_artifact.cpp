#include "engine/kernels/code_artifact.h"

#include "base/json.h"

namespace fusescope {

// The text is a line of JSON, followed by the bytes of the code.
std::string CodeArtifact::text() const {
  const Json head = {{"embedded", embedded}, {"names", names}};
  return head.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n" + code;
}

std::optional<CodeArtifact> CodeArtifact::parse(std::string_view text) {
  const std::size_t end = text.find('\n');
  if (end == std::string_view::npos) return std::nullopt;
  try {
    const Json head = Json::parse(text.substr(0, end));
    return CodeArtifact{head.at("embedded").get<std::string>(), head.at("names").get<NodeNames>(),
                        std::string(text.substr(end + 1))};
  } catch (const Json::exception&) {
    return std::nullopt;
  }
}

}  // namespace fusescope
