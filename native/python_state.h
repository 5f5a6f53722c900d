// A State and a LeafSink that are Python objects, by duck typing. Call them without the GIL; every call takes it.
//
// A Python error becomes a C++ exception that carries nothing: the error indicator stays set, and Cython
// lets it through where it meets the exception (`except +`).
#pragma once

#include <Python.h>

#include <stdexcept>

#include "core/mate.h"
#include "core/state.h"

namespace goryu {

struct PythonError : std::runtime_error {
    PythonError() : std::runtime_error("a Python error") {}
};

// Holds the GIL.
class Gil {
public:
    Gil() : state_(PyGILState_Ensure()) {}
    Gil(const Gil&) = delete;
    Gil& operator=(const Gil&) = delete;
    ~Gil() { PyGILState_Release(state_); }

private:
    PyGILState_STATE state_;
};

// Owns a reference; refuses null, which is what the C API returns for an error.
class Reference {
public:
    explicit Reference(PyObject* object) : object_(object) {
        if (object == nullptr) throw PythonError();
    }
    Reference(const Reference&) = delete;
    Reference& operator=(const Reference&) = delete;
    ~Reference() { Py_DECREF(object_); }

    PyObject* get() const noexcept { return object_; }
    Reference attribute(const char* name) const { return Reference(PyObject_GetAttrString(object_, name)); }

private:
    PyObject* object_;
};

inline std::uint64_t unsigned_of(const Reference& number) {
    const std::uint64_t value = PyLong_AsUnsignedLongLong(number.get());
    if (PyErr_Occurred()) throw PythonError();
    return value;
}

inline Move move_of(const Reference& number) {
    const std::uint64_t move = unsigned_of(number);
    if (move > 0xFFFF) {
        PyErr_Format(PyExc_OverflowError, "expected a move in [0, 65535], received %R", number.get());
        throw PythonError();
    }
    return static_cast<Move>(move);
}

// Plays on a Python state.
class PythonState final : public State {
public:
    // solver: a Solver (search/graph/proof.py). Borrows both.
    PythonState(PyObject* state, PyObject* solver) : state_(state), solver_(solver) {}

    int turn() override { return static_cast<int>(number("turn")); }
    std::uint32_t ply() override { return static_cast<std::uint32_t>(number("ply")); }
    std::uint64_t key() override { return number("key"); }
    void push(Move move) override {
        const Gil gil;
        Reference(PyObject_CallMethod(state_, "push", "i", int{move}));
    }
    void pop() override {
        const Gil gil;
        Reference(PyObject_CallMethod(state_, "pop", nullptr));
    }
    std::optional<double> outcome() override { return result("outcome"); }
    std::optional<double> repetition() override { return result("repetition"); }

    void legal_moves(std::vector<Move>& moves) override {
        const Gil gil;
        append(Reference(PyObject_CallMethod(state_, "legal_moves", nullptr)), moves);
    }

    std::span<const Move> find_mate(int, std::uint32_t visits) override {
        const Gil gil;
        const Reference found(PyObject_CallFunction(solver_, "OI", state_, static_cast<unsigned int>(visits)));
        line_.clear();
        append(found, line_);
        return line_;
    }

private:
    static void append(const Reference& listed, std::vector<Move>& moves) {
        const Py_ssize_t count = PySequence_Size(listed.get());
        for (Py_ssize_t i = 0; i < count; ++i) moves.push_back(move_of(Reference(PySequence_GetItem(listed.get(), i))));
        if (PyErr_Occurred()) throw PythonError();
    }

    std::uint64_t number(const char* name) const {
        const Gil gil;
        return unsigned_of(Reference(PyObject_GetAttrString(state_, name)));
    }

    std::optional<double> result(const char* method) const {
        const Gil gil;
        const Reference outcome(PyObject_CallMethod(state_, method, nullptr));
        if (outcome.get() == Py_None) return {};
        const double value = PyFloat_AsDouble(outcome.attribute("value").get());
        if (PyErr_Occurred()) throw PythonError();
        return value;
    }

    PyObject* state_;
    PyObject* solver_;
    std::vector<Move> line_;
};

// Appends copies of a Python state to a list.
class PythonLeafSink final : public LeafSink {
public:
    // Borrows both.
    PythonLeafSink(PyObject* state, PyObject* list) : state_(state), list_(list) {}

    void add(std::size_t) override {
        const Gil gil;
        const Reference copy(PyObject_CallMethod(state_, "copy", nullptr));
        if (PyList_Append(list_, copy.get()) != 0) throw PythonError();
    }

private:
    PyObject* state_;
    PyObject* list_;
};

// Asks a Python function.
class PythonStopper final : public MateSearch::Stopper {
public:
    // Borrows it.
    explicit PythonStopper(PyObject* should_stop) : should_stop_(should_stop) {}

    bool should_stop() override {
        const Gil gil;
        const int stops = PyObject_IsTrue(Reference(PyObject_CallNoArgs(should_stop_)).get());
        if (stops < 0) throw PythonError();
        return stops != 0;
    }

private:
    PyObject* should_stop_;
};

}  // namespace goryu
