// A network as evaluators/kernel/network_file.py packs it.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/winograd.h"

namespace goryu {

struct NetworkFile {
    std::unique_ptr<WinogradNetwork> network;
    std::unique_ptr<Format> format;
    bool reads_planes = false;
    bool sees_nyugyoku = false;
    std::vector<std::pair<std::string, double>> options;  // Those that suit the network.
};

// Reads a file, whatever its bytes are. Returns why it cannot, or an empty text.
// Throws std::invalid_argument if the layers do not fit each other.
std::string read_network_file(std::span<const std::byte> bytes, NetworkFile& file,
                              Instructions instructions = Instructions::kWasm);

}  // namespace goryu
