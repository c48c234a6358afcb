"""Mutation testing of the core: does some test fail when a line says something else?"""
