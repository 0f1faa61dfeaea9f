#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>

/// What a fuzzer calls with bytes of its own. Anything but a clean return is a finding.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace fusescope::fuzz {

/// The bytes as a file of this process, for what reads files by path. Written anew with each call.
std::filesystem::path asFile(std::span<const std::uint8_t> bytes, std::string_view extension);

std::string_view asText(std::span<const std::uint8_t> bytes);

/// Ends the process, as a finding, with the claim that did not hold.
[[noreturn]] void report(std::string_view claim, std::string_view detail);

}  // namespace fusescope::fuzz
