#pragma once

#include <filesystem>
#include <string>

namespace fusescope::mutation {

/// Imports, prepares and plans a file for every kind of target. One line: "planned", "refused: …" for a clean located
/// refusal, "BAD: …" for anything else (a refusal that names no place, an unsound plan, an exception).
std::string probe(const std::filesystem::path& file);

}  // namespace fusescope::mutation
